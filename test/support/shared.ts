import { inject } from 'vitest'

/** Requests what all test files of a run share (`global-setup.ts`). */
export async function shared(what: 'browser' | 'postgres' | 'programs' | 'package'): Promise<string> {
  const response = await fetch(`${inject('shared')}/${what}`)
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return text
}
