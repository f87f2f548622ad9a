/** Sends the statements of one transaction on a connection, in their order. */
import type { Dialect } from '../../sql/dialect.ts'
import type { PgClient, PgResult } from '../../sql/postgres/connection.ts'
import type { Begin } from '../../sql/postgres/transaction.ts'
import { type Batch, nameOf, nextBatch, send, sendWaiting } from '../../sql/postgres/wire/send.ts'
import type { Statement } from '../../sql/statement.ts'
import type { Statements } from '../../sql/statements.ts'

/** The common settings of one storage's statements. */
export interface Language {
  readonly dialect: Dialect
  readonly statements: Statements
  /** Whether statements are prepared under a name. Off for poolers that give every transaction another connection. */
  readonly prepared: boolean
  readonly onStatement: ((statement: Statement) => void) | undefined
}

/** A statement of a storage, with its name if statements are prepared. */
export const named = ({ prepared }: Language, text: string): Begin => ({ text, name: prepared ? nameOf(text) : undefined })

export interface Sender {
  /** A statement of the storage. @throws what `pg` throws */
  run(statement: Statement): Promise<PgResult>
  /** Any other one, before the end. */
  send(text: string): Promise<PgResult>
  /** The statement that ends the transaction. */
  end(text: string): Promise<PgResult>
  /** The connection, for a host's own statements. Those before them are sent first; later ones no longer wait for others. */
  handOver(): PgClient
}

/** Sends the statements of one transaction, on the connection on which it begins. */
export interface TransactionSender extends Sender {
  /** Whether the response to the BEGIN is there: from then on a statement is sent immediately. */
  hasBegun(): boolean
}

/** The connection of a transaction, and the one on which it has begun: another one if the first turned out to be gone. */
export interface Connection {
  readonly client: PgClient
  /** The batch in which the BEGIN travels. */
  readonly batch?: Batch
  readonly begun: Promise<{ readonly client: PgClient }>
}

/**
 * Sends the statements of a transaction. Those that only read are sent without waiting for its BEGIN. If that turns out to have no
 * connection, they are sent again after the next one. Those that write do the same only in the batch of the BEGIN, where none
 * of them runs if it fails. Later ones wait for its response: without a transaction they would commit by themselves.
 */
export function senderAfter({ client, batch, begun }: Connection, language: Language): TransactionSender {
  let sender = senderOn(client, language)
  let hasBegun = false
  let isHandedOver = false
  const settled = begun.then((held) => {
    hasBegun = true
    if (held.client === client) return
    sender = senderOn(held.client, language)
    if (isHandedOver) sender.handOver()
  })
  settled.catch(() => undefined)

  async function ahead(run: (sender: Sender) => Promise<PgResult>): Promise<PgResult> {
    const first = sender
    const result = run(first)
    result.catch(() => undefined)
    await settled
    return sender === first ? result : run(sender)
  }

  function inTurn(run: (sender: Sender) => Promise<PgResult>, writes: boolean): Promise<PgResult> {
    const isSafe = !writes || (batch !== undefined && nextBatch(client) === batch)
    return isSafe ? ahead(run) : settled.then(() => run(sender))
  }

  return {
    hasBegun: () => hasBegun,
    run: (statement) =>
      hasBegun ? sender.run(statement) : inTurn((connection) => connection.run(statement), statement.writes !== undefined),
    send: (text) => (hasBegun ? sender.send(text) : inTurn((connection) => connection.send(text), true)),
    // Never with the BEGIN: if the response to both is lost, no one could find out whether to send the writes again.
    end: (text) => (hasBegun ? sender.end(text) : settled.then(() => sender.end(text))),
    handOver() {
      isHandedOver = true
      return sender.handOver()
    },
  }
}

function senderOn(client: PgClient, { prepared, onStatement }: Language): Sender {
  let inTurn = client.pipeline ? send : oneByOne()
  const run = (text: string, values: Statement['values'] = [], isNamed = prepared) =>
    inTurn(client, text, values, isNamed ? nameOf(text) : undefined)
  return {
    run(statement) {
      onStatement?.(statement)
      return run(statement.sql, statement.values, prepared && statement.hasOwnPlan !== true)
    },
    send: (text) => run(text),
    end: (text) => run(text),
    handOver() {
      if (client.pipeline) inTurn = atOnce
      sendWaiting(client)
      return client
    },
  }
}

const atOnce: typeof send = (client, ...statement) => {
  const result = send(client, ...statement)
  sendWaiting(client)
  return result
}

/** Sends each statement when the one before has its response, for connections that are not made for more. */
function oneByOne(): typeof send {
  let last: Promise<unknown> = Promise.resolve()
  return (...statement) => {
    const result = last.then(() => send(...statement))
    last = result.catch(() => undefined)
    return result
  }
}
