import { expect, test } from 'vitest'
import { openOutbox } from '../../../../adapters/outbox/file.ts'
import { outboxDirectory } from '../../../../adapters/outbox/reader.ts'
import { storePath } from '../../../../daemon/relay/open-store.ts'
import { startRelay } from '../../../../daemon/relay/relay.ts'
import { openSqliteStore } from '../../../../daemon/relay/store/sqlite/store.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { endpoint, event, pass, receiver, until } from '../support.ts'

test('a relay that is asked twice to stop sends nothing more, though the outbox still keeps it waiting', async () => {
  const directory = temporaryDirectory()
  const hook = await receiver(() => undefined)
  const outbox = await openOutbox({ directory })
  const inner = outboxDirectory(directory)
  const slow = Promise.withResolvers<void>()
  let isSlow = false
  let waits = false
  const relay = await startRelay({
    outbox: directory,
    settings: { allowHttp: true, allowPrivate: true },
    source: {
      ...inner,
      async read(positions, limit) {
        waits = isSlow
        if (isSlow) await slow.promise
        return inner.read(positions, limit)
      },
    },
  })
  await outbox.append([[endpoint(hook.url)], [event('a')]])
  await until(() => hook.received.length === 1, 'it is in flight')
  isSlow = true
  await outbox.append([[event('b')]])
  await until(() => waits, 'the outbox keeps it waiting')

  const closed = relay.close()
  relay.close()
  await until(() => relay.scheduler.inFlight === 0 || hook.received.length > 1, 'what was in flight is aborted')
  await pass(50)
  expect(hook.received).toHaveLength(1)
  slow.resolve()
  await closed
  await outbox.close()

  const store = await openSqliteStore(storePath(directory))
  const { ref = 0 } = (await store.recover(0)).endpoints[0]?.endpoint ?? {}
  const waiting = (await store.peek([ref], 'first', 10)).get(ref) ?? []
  await store.close()
  expect(waiting[0]).toMatchObject({ attempts: 0, interruptions: 0 })
})

test('a relay that stops in the middle of a tick records nothing more once its store is closed', async () => {
  const directory = temporaryDirectory()
  await (await openOutbox({ directory })).close()
  const store = await openSqliteStore(storePath(directory))
  const calls: string[] = []
  const slow = Promise.withResolvers<void>()
  const relay = await startRelay({
    outbox: directory,
    source: outboxDirectory(directory),
    store: {
      ...store,
      async commit(tick, now) {
        calls.push('commit')
        await slow.promise
        return store.commit(tick, now)
      },
      async close() {
        calls.push('close')
        await store.close()
      },
    },
  })
  await until(() => calls.length > 0, 'a tick is being recorded')
  const closed = relay.close()
  slow.resolve()
  await closed
  await pass(50)
  expect(calls.indexOf('close')).toBe(calls.length - 1)
})

test('a relay whose outbox and store do not respond at all stops all the same', async () => {
  const directory = temporaryDirectory()
  await (await openOutbox({ directory })).close()
  const store = await openSqliteStore(storePath(directory))
  let isSilent = false
  const silenced = new Set<string>()
  const unlessSilent = <T>(what: string, work: () => Promise<T>): Promise<T> => {
    if (!isSilent) return work()
    silenced.add(what)
    return new Promise<T>(() => undefined)
  }
  const inner = outboxDirectory(directory)
  const relay = await startRelay({
    outbox: directory,
    source: { ...inner, read: (positions, limit) => unlessSilent('outbox', () => inner.read(positions, limit)) },
    store: {
      ...store,
      poll: () => unlessSilent('store', store.poll),
      close: () => unlessSilent('closing', store.close),
    },
  })
  isSilent = true
  await until(() => silenced.has('outbox') && silenced.has('store'), 'nothing responds')
  await relay.close(0)
  await store.close()
})
