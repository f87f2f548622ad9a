import { describe, expect, test } from 'vitest'
import {
  initialState,
  type SendingState,
  type StateChange,
  transition,
  unreadableFor,
} from '../../../../../daemon/relay/schedule/endpoint/sending-state.ts'
import type { Endpoint } from '../../../../../daemon/relay/store/endpoint/relay-endpoint.ts'
import { openEndpoint } from '../../send/support.ts'

const endpoint = openEndpoint('https://example.org/')
const plain = { key: 'key', secrets: [], old_keys: [], old_secrets: [], headers: null }
const read: StateChange = { kind: 'read', plain }
const reading: StateChange = { kind: 'reading' }
const unreadable: StateChange = { kind: 'unreadable', problem: 'no key' }
const disabled: StateChange = { kind: 'disabled', reason: '410' }
const wanted: StateChange = { kind: 'wanted' }
const removed: StateChange = { kind: 'removed' }
const defined = (change: Partial<Endpoint>): StateChange => ({ kind: 'defined', endpoint: { ...endpoint, ...change } })
const off = defined({ enabled: false })
const on = defined({})

const stateAfter = (...changes: readonly StateChange[]): SendingState => changes.reduce(transition, initialState(endpoint, null))

describe('an endpoint', () => {
  test.each<[string, readonly StateChange[], SendingState['kind']]>([
    ['at first', [], 'reading'],
    ['whose credentials are read', [read], 'active'],
    ['whose credentials cannot be read', [unreadable], 'unreadable'],
    ['whose credentials are read again', [read, reading], 'reading'],
    ['that is defined anew', [read, on], 'active'],
    ['that is turned off', [read, off], 'off'],
    ['that is turned off and on', [read, off, on], 'active'],
    ['that is turned off, and whose credentials are read', [off, read], 'off'],
    ['that is turned off, and cannot be read', [off, unreadable], 'off'],
    ['that is turned off, and on when it cannot be read', [off, unreadable, on], 'unreadable'],
    ['that the relay disables', [read, disabled], 'disabled'],
    ['that the relay disables while it is off', [read, off, disabled], 'disabled'],
    ['that is defined anew after the relay disabled it', [read, disabled, on], 'active'],
    ['that another relay is to have', [read, wanted], 'leaving'],
    ['that another relay is to have, and that is defined anew', [read, wanted, on, read], 'leaving'],
    ['that another relay has', [read, wanted, removed], 'removed'],
    ['that is gone, whatever comes', [removed, on, read, wanted], 'removed'],
  ])('%s: %o is %s', (_, changes, kind) => {
    expect(stateAfter(...changes).kind).toBe(kind)
  })

  test('is as it was defined last, and disabled for the reason that was given', () => {
    expect(stateAfter(read, defined({ url: 'https://example.com/' }), disabled).endpoint).toEqual({
      ...endpoint,
      url: 'https://example.com/',
      disabled: '410',
    })
  })

  test('cannot be read for the reason that is known, until it is read', () => {
    expect(unreadableFor(initialState(endpoint, 'no key'))).toBe('no key')
    expect(unreadableFor(stateAfter(unreadable, reading))).toBe('no key')
    expect(unreadableFor(stateAfter(unreadable, reading, read))).toBeNull()
    expect(unreadableFor(stateAfter(unreadable, removed))).toBe('no key')
  })
})
