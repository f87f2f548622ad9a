import { expect, test } from 'vitest'
import { fileTypes } from '../../../adapters/ports/file-types.ts'
import { png } from '../../support/ports.ts'

const { sniff } = fileTypes()
const bytes = (text: string) => new TextEncoder().encode(text)

const unknown = { content_type: 'application/octet-stream', extension: 'bin' }
const text = { content_type: 'text/plain', extension: 'txt' }

test.each([
  ['a PNG', png, { content_type: 'image/png', extension: 'png' }],
  ['a GIF', bytes('GIF89a\u0001\u0000\u0001\u0000'), { content_type: 'image/gif', extension: 'gif' }],
  ['a PDF', bytes('%PDF-1.7\n1 0 obj'), { content_type: 'application/pdf', extension: 'pdf' }],
  ['a text', bytes('Grüße 🌱\n'), text],
  ['a page, shown as its source', bytes('<!doctype html><script>alert(1)</script>'), text],
  ['bytes without a meaning', Uint8Array.of(0xff, 0xfe, 0xfd, 0x01), unknown],
  ['a text with NUL', bytes('a\0b'), unknown],
])('%s is told by its bytes', async (_, content, type) => {
  expect(await sniff(content)).toEqual(type)
})

test.each([
  '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>',
  '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><script>alert(1)</script></html>',
  '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
])('what a browser would run is handed out as no page: %s', async (page) => {
  expect((await sniff(bytes(page))).content_type).toMatch(/^(?:application\/octet-stream|text\/plain)$/)
})
