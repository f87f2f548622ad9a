/** The changes of one part of a transaction, so that the part can be taken back by itself while the rest is kept. */
import type { OutboxRecord } from '../outbox/record.ts'
import type { Tx } from './contract.ts'
import { Recorder } from './recorder.ts'

const isNoEvent = ({ kind }: OutboxRecord): boolean => kind !== 'event'

export class UndoLog extends Recorder {
  readonly #isQuiet: boolean

  /** @param isQuiet whether events are left out */
  constructor(isQuiet: boolean) {
    super(false)
    this.#isQuiet = isQuiet
  }

  override over(tx: Tx): Tx {
    const inner = super.over(tx)
    return this.#isQuiet ? { ...inner, append: (records) => inner.append(records.filter(isNoEvent)) } : inner
  }

  /** Nothing is counted, so what was kept need not be remembered. */
  override async keep(): Promise<void> {}
}
