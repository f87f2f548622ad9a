import { describe, expect, test } from 'vitest'
import { ProxyFailed } from '../../../../daemon/relay/send/proxy.ts'
import { createProxyGate } from '../../../../daemon/relay/send/proxy-gate.ts'
import { virtualClock } from '../virtual-clock.ts'

const refusal = new ProxyFailed('407', 'unusable')
const noWay = new ProxyFailed('502', 'endpoint')

/** A gate, what it told, and how often it looked for its proxy, which is away as long as there is a reason. */
function gateWith() {
  const clock = virtualClock()
  const state = { away: undefined as string | undefined, looks: 0 }
  const told: string[] = []
  const reach = async () => {
    state.looks++
    return state.away
  }
  const gate = createProxyGate(clock, reach, ({ kind }) => told.push(kind))
  async function advance(milliseconds: number): Promise<void> {
    clock.advance(milliseconds)
    for (let turn = 0; turn < 5; turn++) await Promise.resolve()
  }
  return { gate, state, told, advance }
}

describe('the gate of a proxy', () => {
  test('closes when the proxy cannot be reached, and looks for it less and less often, until it is there', async () => {
    const { gate, state, told, advance } = gateWith()
    state.away = 'ECONNREFUSED'
    gate.unreachable('ECONNREFUSED')
    gate.unreachable('ECONNREFUSED')
    expect([gate.isClosed, gate.isDown]).toEqual([true, true])
    const looks: number[] = []
    for (const seconds of [1, 2, 4, 8, 16, 30, 30]) {
      await advance(seconds * 1000 - 1)
      looks.push(state.looks)
      await advance(1)
    }
    expect(looks).toEqual([0, 1, 2, 3, 4, 5, 6])
    state.away = undefined
    await advance(30_000)
    expect([gate.isClosed, gate.isDown]).toEqual([false, false])
    expect(told).toEqual(['failed', ...Array(7).fill('still'), 'recovered'])
    await advance(60_000)
    expect(state.looks).toBe(8)
  })

  test('opens at the first connection, and looks no more', async () => {
    const { gate, state, told, advance } = gateWith()
    gate.unreachable('ECONNRESET')
    gate.worked(1)
    await advance(60_000)
    expect([gate.isClosed, state.looks, told]).toEqual([false, 0, ['failed', 'recovered']])
  })

  test.each([refusal, noWay])('stays open whatever endpoints get, and how many of them: $message', (failure) => {
    const { gate } = gateWith()
    for (let round = 0; round < 100; round++) for (let endpoint = 0; endpoint < 20; endpoint++) gate.failed(endpoint, failure)
    expect(gate.isClosed).toBe(false)
  })

  test('blames an endpoint when another one got a connection between two failures in a row', () => {
    const { gate } = gateWith()
    expect([gate.failed(1, noWay), gate.failed(1, noWay), gate.failed(2, noWay)]).toEqual([false, false, false])
    gate.worked(3)
    expect([gate.isToBlame(1), gate.failed(1, noWay), gate.failed(1, noWay)]).toEqual([true, true, false])
    gate.worked(2)
    expect([gate.failed(2, noWay), gate.failed(1, noWay)]).toEqual([false, true])
    gate.forget(1)
    gate.worked(3)
    expect(gate.failed(1, noWay)).toBe(false)
    gate.reset()
    gate.worked(3)
    expect(gate.failed(2, noWay)).toBe(false)
  })

  test('is down when it refuses two endpoints with no connection in between, or the first one of all', () => {
    const { gate, told } = gateWith()
    gate.failed(1, refusal)
    expect([gate.isDown, gate.isClosed]).toEqual([true, false])
    gate.worked(2)
    expect(gate.isDown).toBe(false)
    gate.failed(1, refusal)
    gate.failed(1, refusal)
    gate.worked(2)
    gate.failed(3, refusal)
    expect(gate.isDown).toBe(false)
    gate.failed(4, refusal)
    expect(gate.isDown).toBe(true)
    gate.failed(4, refusal)
    gate.worked(2)
    expect(told).toEqual(['failed', 'recovered', 'failed', 'still', 'recovered'])
  })

  test('that was reset says that the next proxy works', async () => {
    const { gate, state, told, advance } = gateWith()
    gate.unreachable('ECONNREFUSED')
    gate.reset()
    await advance(60_000)
    gate.worked(1)
    gate.unreachable('ECONNREFUSED')
    gate.close()
    await advance(60_000)
    expect([state.looks, told]).toEqual([0, ['failed', 'recovered', 'failed']])
  })

  test('looks for no proxy once it was closed, also where an attempt ends after that', async () => {
    const { gate, state, told, advance } = gateWith()
    gate.close()
    gate.unreachable('the relay is shutting down')
    await advance(60_000)
    expect([gate.isClosed, state.looks, told]).toEqual([false, 0, []])
  })
})
