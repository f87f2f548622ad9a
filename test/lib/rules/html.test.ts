import { expect, test } from 'vitest'
import { linkedHtml } from '../../../lib/rules/html.ts'

const link = (url: string) => `<a href="${url}" target="_blank" rel="nofollow noopener">${url}</a>`

test.each([
  ['Well said', 'Well said'],
  ['Don\'t say "no"', 'Don\'t say "no"'],
  ['one\ntwo\r\nthree\rfour', 'one<br>two<br>three<br>four'],
  ['1 < 2 && 3 > 2', '1 &lt; 2 &amp;&amp; 3 &gt; 2'],
  ['&lt;b&gt;', '&amp;lt;b&amp;gt;'],
  ['', ''],
])('%j is %j', (text, html) => {
  expect(linkedHtml(text)).toBe(html)
})

test.each([
  ['https://example.org', link('https://example.org')],
  ['HTTP://Example.org/A', link('HTTP://Example.org/A')],
  ['see https://example.org/a#b, please', `see ${link('https://example.org/a#b')}, please`],
  ['(https://example.org/a)', `(${link('https://example.org/a')})`],
  ['https://example.org/a_(b)', link('https://example.org/a_(b)')],
  ['(as in https://example.org/a_(b)).', `(as in ${link('https://example.org/a_(b)')}).`],
  ['Really https://example.org?!', `Really ${link('https://example.org')}?!`],
  ['https://a.example https://b.example', `${link('https://a.example')} ${link('https://b.example')}`],
  ['https://example.org/?a=1&b=2', link('https://example.org/?a=1&amp;b=2')],
  ['https://münchen.example/ä', link('https://münchen.example/ä')],
])('in %j the address is a link', (text, html) => {
  expect(linkedHtml(text)).toBe(html)
})

test.each([
  ['https://e.org/\u202egnp.exe', 'https://e.org/%E2%80%AEgnp.exe'],
  ['https://e.org/\u2066a\u2069?\u200f=\u2060', 'https://e.org/%E2%81%A6a%E2%81%A9?%E2%80%8F=%E2%81%A0'],
  ['https://e.org/a\u00adb\u3164c\u{e0041}', 'https://e.org/a%C2%ADb%E3%85%A4c%F3%A0%81%81'],
  ['https://e.org/\u0007\u0085', 'https://e.org/%07%C2%85'],
  ['https://pay\u200bpal.example/', 'https://pay%E2%80%8Bpal.example/'],
])('in %j the link shows the characters that nobody sees', (text, url) => {
  expect(linkedHtml(text)).toBe(link(url))
  expect(new URL(url).href).toBe(new URL(text).href)
})

test('characters that nobody sees stay where there is no address', () => {
  expect(linkedHtml('\u202eשלום\u202c 👩‍🌾')).toBe('\u202eשלום\u202c 👩‍🌾')
})

test.each([
  'https://',
  'http://?',
  'https://.',
  'ftp://example.org',
  'javascript:alert(1)',
  'data:text/html,x',
  'xhttps://example.org',
])('in %j there is no link', (text) => {
  expect(linkedHtml(text)).toBe(text)
})

test.each([
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  'https://example.org/"onmouseover="alert(1)',
  "https://example.org/'onmouseover='alert(1)",
  'https://example.org/<script>alert(1)</script>',
  '<a href="javascript:alert(1)">x</a>',
  'https://example.org/&quot;onmouseover=&quot;alert(1)',
  '<<script>script>',
])('nothing of %j can run', (text) => {
  const html = linkedHtml(text)
  // The rest of such links is text: no bracket, and no quote that could end an attribute.
  const rest = html.replaceAll(/<a href="[^"<>]*" target="_blank" rel="nofollow noopener">/g, '').replaceAll('</a>', '')
  expect(rest).not.toMatch(/[<>]/)
})

test('a long text is no trouble, whatever it is made of', () => {
  for (const piece of ['http', 'https://', 'https://a)', '(', ')', '<', 'https://a.example/ ', '.', '&', "'"]) {
    const text = piece.repeat(Math.floor(100_000 / piece.length))
    expect(linkedHtml(text).length).toBeGreaterThanOrEqual(text.length)
  }
})
