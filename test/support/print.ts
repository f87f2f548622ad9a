import { stdout } from 'node:process'

/**
 * Prints for a test that reads along. It waits while the pipe is full, where `writeSync` fails: on a busy machine readers are slow.
 */
export const print = (text: string): Promise<void> => new Promise((printed) => void stdout.write(text, () => printed()))
