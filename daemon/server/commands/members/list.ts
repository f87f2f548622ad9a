/** Lists of members that commands take from a file: addresses or ids. */
import { readFile } from 'node:fs/promises'
import { CommandFailure } from '../../../usage.ts'

export type MemberList = { readonly ids: readonly string[] } | { readonly addresses: readonly string[] }

/** The addresses or ids of a file, with blanks, commas or lines between them; `-` is standard input. @throws CommandFailure */
export async function listIn(file: string): Promise<MemberList> {
  const text = await readFile(file === '-' ? '/dev/stdin' : file, 'utf8').catch((error: unknown) => {
    throw new CommandFailure(`${file} can't be read`, { cause: error })
  })
  const lines = text
    .replace(/^\uFEFF/, '')
    .split(/[\s,;]+/)
    .filter((line) => line !== '')
  const isOfAddresses = lines.some((line) => line.includes('@'))
  return isOfAddresses ? { addresses: lines } : { ids: lines }
}

export const countIn = (list: MemberList): number => ('ids' in list ? list.ids : list.addresses).length

export function partsOf(list: MemberList, size: number): MemberList[] {
  const all = 'ids' in list ? list.ids : list.addresses
  const step = Math.min(size, all.length)
  return Array.from({ length: Math.ceil(all.length / step) || 0 }, (_, part) => {
    const some = all.slice(part * step, (part + 1) * step)
    return 'ids' in list ? { ids: some } : { addresses: some }
  })
}
