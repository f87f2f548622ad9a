import { inject } from 'vitest'

/** Requests what all test files of a run share (`global-setup.ts`). */
export async function shared(what: 'browser' | 'postgres' | 'programs' | 'package'): Promise<string> {
  const answer = await fetch(`${inject('shared')}/${what}`)
  const text = await answer.text()
  if (!answer.ok) throw new Error(text)
  return text
}
