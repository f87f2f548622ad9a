/** Settings that cannot be used; `problems` names every one of them. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
  /** One sentence for each setting, with its name and the remedy. */
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('; '))
    this.problems = problems
  }
}
