/** Sends the statements of one transaction on a connection, in their order. */
import type { Dialect } from '../../sql/dialect.ts'
import { nameOf, type PgClient, type PgResult, send } from '../../sql/postgres/client.ts'
import type { Statement, Statements } from '../../sql/statements.ts'

/** The common settings of one storage's statements. */
export interface Language {
  readonly dialect: Dialect
  readonly statements: Statements
  /** Whether statements are prepared under a name. Off for poolers that give every transaction another connection. */
  readonly prepared: boolean
  readonly onStatement: ((statement: Statement) => void) | undefined
}

export interface Sender {
  /** A statement of the storage. @throws what `pg` throws */
  run(statement: Statement): Promise<PgResult>
  /** Any other one. */
  send(text: string): Promise<PgResult>
}

/** The connection of a transaction, and the one on which it has begun: another one if the first turned out to be gone. */
export interface Connection {
  readonly client: PgClient
  readonly begun: Promise<{ readonly client: PgClient }>
}

/**
 * Sends the statements of a transaction. Those that only read travel with its BEGIN; if that turns out to have no connection, they
 * are sent again after the next one. Others wait for the answer: if the BEGIN failed alone, they would commit by themselves.
 */
export function senderAfter({ client, begun }: Connection, language: Language): Sender {
  let sender = senderOn(client, language)
  let hasBegun = false
  const answered = begun.then((held) => {
    hasBegun = true
    if (held.client !== client) sender = senderOn(held.client, language)
  })
  answered.catch(() => undefined)

  async function ahead(statement: Statement): Promise<PgResult> {
    const first = sender
    const answer = first.run(statement)
    answer.catch(() => undefined)
    await answered
    return sender === first ? answer : sender.run(statement)
  }

  return {
    run(statement) {
      if (hasBegun) return sender.run(statement)
      return statement.writes ? answered.then(() => sender.run(statement)) : ahead(statement)
    },
    send: (text) => (hasBegun ? sender.send(text) : answered.then(() => sender.send(text))),
  }
}

function senderOn(client: PgClient, { prepared, onStatement }: Language): Sender {
  const inTurn = client.pipeline ? send : oneByOne()
  return {
    run(statement) {
      const { sql, values } = statement
      onStatement?.(statement)
      return inTurn(client, sql, values, prepared ? nameOf(sql) : undefined)
    },
    send: (text) => inTurn(client, text),
  }
}

/** Sends each statement when the one before has its answer, for connections that are not made for more. */
function oneByOne(): typeof send {
  let last: Promise<unknown> = Promise.resolve()
  return (...statement) => {
    const answer = last.then(() => send(...statement))
    last = answer.catch(() => undefined)
    return answer
  }
}
