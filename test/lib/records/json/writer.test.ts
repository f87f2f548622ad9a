import { describe, expect, test } from 'vitest'
import { FileUrl, Id, orNull, record, Text } from '../../../../lib/fields.ts'
import { RecordWriter } from '../../../../lib/records/json/writer.ts'

const Badge = record('Badge', { id: Id, title: Text, icon: orNull(FileUrl) })

const badge = { id: '7', title: 'Deep – "blue"', icon: '/files/1', network_id: '1' }

describe('a record as text', () => {
  for (const ids of ['string', 'number'] as const)
    test(`is its value in JSON, with ids as ${ids}`, () => {
      const writer = new RecordWriter(ids, 'https://example.org')
      expect(writer.text(Badge, badge)).toBe(JSON.stringify(writer.value(Badge, badge)))
    })

  test('is made for each schema of one value', () => {
    const writer = new RecordWriter('string', '')
    const Title = record('Title', { title: Text })
    expect([writer.text(Badge, badge), writer.text(Title, badge)]).toEqual([
      '{"id":"7","title":"Deep – \\"blue\\"","icon":"/files/1"}',
      '{"title":"Deep – \\"blue\\""}',
    ])
  })

  test('is made once, until the writer forgets', () => {
    let reads = 0
    const counted = {
      id: '7',
      icon: null,
      get title() {
        reads += 1
        return 'Blue'
      },
    }
    const writer = new RecordWriter('string', '')
    const texts = [writer.text(Badge, counted), writer.text(Badge, counted)]
    const readsBefore = reads
    writer.forget()
    expect([...texts, writer.text(Badge, counted)]).toEqual(Array(3).fill('{"id":"7","title":"Blue","icon":null}'))
    expect([readsBefore, reads]).toEqual([1, 2])
  })
})
