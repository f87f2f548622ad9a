/** How commands are given encryption keys: by a file or the environment, for a command line is read by every user of the machine. */
import type { Command } from 'commander'

/** The variable that holds them, separated by commas. */
export const encryptionKeysVariable = 'FOLKMOOT_ENCRYPTION_KEYS'

export interface EncryptionFlags {
  readonly encryptionKeyFile?: string
  /** The content of the variable; not an option, so that it is never on a command line. */
  readonly encryptionKeys?: string
}

export const withEncryptionKeys = (command: Command): Command =>
  command.option(
    '--encryption-key-file <file>',
    `the keys that encrypt tokens of endpoints; by default the variable ${encryptionKeysVariable}`,
  )

/** Hands what the variable holds to each command that takes encryption keys. */
export function handOverKeys(program: Command, variable: string | undefined): void {
  program.hook('preAction', (_, command) => {
    const takes = command.options.some((option) => option.attributeName() === 'encryptionKeyFile')
    if (takes && variable !== undefined) command.setOptionValueWithSource('encryptionKeys', variable, 'env')
  })
}
