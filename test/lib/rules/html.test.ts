import * as fc from 'fast-check'
import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5'
import { expect, test } from 'vitest'
import { commentHtml, textOfHtml } from '../../../lib/rules/html.ts'

const link = (url: string) => `<a href="${url}" target="_blank" rel="nofollow noopener">${url}</a>`

test.each([
  ['Well said', 'Well said'],
  ['Don\'t say "no"', 'Don\'t say "no"'],
  ['one\ntwo\r\nthree\rfour', 'one<br>two<br>three<br>four'],
  ['1 < 2 && 3 > 2', '1 &lt; 2 &amp;&amp; 3 &gt; 2'],
  ['I <3 you', 'I &lt;3 you'],
  ['if a<b then', 'if a&lt;b then'],
  ['AT&T &c; &nosuchname; &copy', 'AT&amp;T &amp;c; &amp;nosuchname; &amp;copy'],
  ['<https://e.org> or <mia@e.org>', `&lt;${link('https://e.org')}&gt; or &lt;mia@e.org&gt;`],
  ['', ''],
])('%j is %j', (text, html) => {
  expect(commentHtml(text)).toBe(html)
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
  expect(commentHtml(text)).toBe(html)
})

test.each([
  ['https://e.org/\u202egnp.exe', 'https://e.org/%E2%80%AEgnp.exe'],
  ['https://e.org/\u2066a\u2069?\u200f=\u2060', 'https://e.org/%E2%81%A6a%E2%81%A9?%E2%80%8F=%E2%81%A0'],
  ['https://e.org/a\u00adb\u3164c\u{e0041}', 'https://e.org/a%C2%ADb%E3%85%A4c%F3%A0%81%81'],
  ['https://e.org/\u0007\u0085', 'https://e.org/%07%C2%85'],
  ['https://pay\u200bpal.example/', 'https://pay%E2%80%8Bpal.example/'],
])('in %j the link shows the characters that nobody sees', (text, url) => {
  expect(commentHtml(text)).toBe(link(url))
  expect(new URL(url).href).toBe(new URL(text).href)
})

test('invisible characters stay where there is no address', () => {
  expect(commentHtml('\u202eשלום\u202c 👩‍🌾')).toBe('\u202eשלום\u202c 👩‍🌾')
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
  expect(commentHtml(text)).toBe(text)
})

const paragraph =
  '<p dir="auto">Hi <a class="mighty-mention" data-user-id="42" href="https://e.org/members/42">Mia</a>,<br>see:</p>'
const outside = 'target="_blank" rel="nofollow noopener"'

test.each([
  ['a paragraph with a mention', paragraph, paragraph.replace('">Mia', `" ${outside}>Mia`)],
  ['a mention without an address', '<a class="x mighty-mention">Mia</a>', '<a class="mighty-mention">Mia</a>'],
  ['emphasis', '<b>b</b><strong>s</strong><i>i</i><em>e</em><u>u</u><s>s</s>'],
  ['lists', '<ul><li>a<ol><li>b</li></ol></li><li>c</li></ul>'],
  ['code and quotations', '<pre><code>a &lt; b\n  c</code></pre><blockquote><p>q</p></blockquote>'],
  ['capitals', '<P DIR=RTL>x</P>', '<p dir="rtl">x</p>'],
  ['line breaks beside tags', '<b>a</b>\nb'],
  ['line breaks without a tag that stays', '<x-y>a\nb</x-y>', 'a<br>b'],
  ['tags that end in no order', '<b>a<i>b</b>c</i>', '<b>a<i>b</i></b>c'],
  ['paragraphs that do not end', '<p>a<p>b', '<p>a</p><p>b</p>'],
  ['items that do not end', '<ul><li>a<li>b</ul>c', '<ul><li>a</li><li>b</li></ul>c'],
  ['a paragraph around a list', '<p>a<ul><li>b</li></ul></p>', '<p>a</p><ul><li>b</li></ul>'],
  ['other blocks', '<h1>a</h1><div>b</div><del>c</del>', '<p>a</p><p>b</p><s>c</s>'],
  ['other elements', '<span style="color:red">a</span><td>b<td>c<hr>', 'a b c'],
  ['what nobody reads', 'a<script>if (b<c) d</script>e<style>p{}</style><iframe>f</iframe><!-- g -->h', 'a e h'],
  ['a drawing', '<svg><style><img src=x onerror=alert(1)></style>a</svg>', 'a'],
  ['a text area', '<textarea><b>x</textarea>', '&lt;b&gt;x'],
  ['other attributes', '<p onclick="alert(1)" style="x" class="y" id="z" dir="up">a</p>', '<p>a</p>'],
  [
    'the same attribute twice',
    '<a href="https://a.example" href="https://b.example">x</a>',
    `<a href="https://a.example" ${outside}>x</a>`,
  ],
  ['another target', '<a target=_top rel=opener href="http://e.org">x</a>', `<a href="http://e.org" ${outside}>x</a>`],
  ['a mail address', '<a href="mailto:mia@e.org">x</a>', `<a href="mailto:mia@e.org" ${outside}>x</a>`],
  ['an address in a link', '<a href="https://e.org">https://e.org</a>', link('https://e.org')],
  ['an address beside tags', '<p>https://e.org/?a=1&amp;b=2</p>', `<p>${link('https://e.org/?a=1&amp;b=2')}</p>`],
  ['an address with a tag in it', 'htt<span>ps://e</span>.org', link('https://e.org')],
  [
    'a link in a link',
    '<a href="https://a.example">a<a href="https://b.example">b</a>',
    `<a href="https://a.example" ${outside}>a</a><a href="https://b.example" ${outside}>b</a>`,
  ],
  [
    'a quote in an address',
    `<a href='https://e.org/"onclick="x'>x</a>`,
    `<a href="https://e.org/&quot;onclick=&quot;x" ${outside}>x</a>`,
  ],
  [
    'unseen characters of an address',
    '<a href="https://e.org/&#x202e;gnp.exe">x</a>',
    `<a href="https://e.org/%E2%80%AEgnp.exe" ${outside}>x</a>`,
  ],
  ['references', '&lt;b&gt; &eacute;&#233;&#xE9;&apos; &amp;amp; &#150; &#0;', "&lt;b&gt; ééé' &amp;amp; – \ufffd"],
])('%s', (_, text, html = text) => {
  expect(commentHtml(text)).toBe(html)
  expect(commentHtml(html)).toBe(html)
})

test.each([...'abcdefghijklmnopqrstuvwxyz', 'Sc', 'script', 'sty', 'titl', 'plaintex', 'b c="d', '/p', '/sc'])(
  'the tag <%s at the end, which does not end, is text',
  (tag) => {
    expect(commentHtml(`a <${tag}`)).toBe(`a &lt;${tag}`)
    expect(textOfHtml(`a <${tag}`)).toBe(`a <${tag}`)
  },
)

test.each([
  'javascript:alert(1)',
  ' JaVaScript:alert(1)',
  'java\nscript:alert(1)',
  'java&Tab;script:alert(1)',
  'data:text/html,x',
  'vbscript:x',
  '/members/1',
  '//e.org',
  '',
  'https://',
])('the address %j makes no link', (href) => {
  expect(commentHtml(`<a href="${href}">x</a>`)).toBe('x')
  expect(commentHtml(`<a class="mighty-mention" href="${href}">x</a>`)).toBe('<a class="mighty-mention">x</a>')
})

test('comments that an earlier version made of text stay as they are', () => {
  for (const html of [
    'one<br>two',
    '&lt;p dir="auto"&gt;Don\'t say "no" &amp;amp; <br>&lt;/p&gt;',
    `see ${link("https://e.org/it's?a=1&amp;b=2")}.<br>x`,
  ])
    expect(commentHtml(html)).toBe(html)
})

/** What a browser makes of HTML, written again. */
function asParsed(html: string): string {
  const written = (node: DefaultTreeAdapterTypes.ChildNode): string => {
    if (node.nodeName === '#text' && 'value' in node)
      return node.value.replace(/[&<>]/g, (each) => ({ '&': '&amp;', '<': '&lt;' })[each] ?? '&gt;')
    if (!('tagName' in node)) return `no element: ${node.nodeName}`
    const attributes = node.attrs.map(({ name, value }) => ` ${name}="${escapedValue(value)}"`).join('')
    expect(node.namespaceURI).toBe('http://www.w3.org/1999/xhtml')
    expect(allowed[node.tagName], `<${node.tagName}${attributes}>`).toBeDefined()
    for (const { name, value } of node.attrs)
      expect(allowed[node.tagName]?.[name] ?? /^never$/, `${name}="${value}"`).toSatisfy(
        (pattern) => pattern instanceof RegExp && pattern.test(value),
      )
    const inside = node.childNodes.map(written).join('')
    return node.tagName === 'br' ? `<br${attributes}>` : `<${node.tagName}${attributes}>${inside}</${node.tagName}>`
  }
  return parseFragment(html).childNodes.map(written).join('')
}

const escapedValue = (value: string): string =>
  value.replace(/[&<>"]/g, (each) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[each] ?? '&quot;')

const directed = { dir: /^(?:ltr|rtl|auto)$/ }
const allowed: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
  ...Object.fromEntries(
    ['p', 'strong', 'b', 'em', 'i', 'u', 's', 'ul', 'ol', 'li', 'blockquote', 'code', 'pre'].map((name) => [name, directed]),
  ),
  br: {},
  a: {
    ...directed,
    href: /^(?:https?|mailto):/i,
    target: /^_blank$/,
    rel: /^nofollow noopener$/,
    class: /^mighty-mention$/,
    'data-user-id': /^[\w-]+$/,
  },
}

/** Pieces of HTML that say different things to different parsers, and those that are kept. */
const pieces = [
  ...[
    'p',
    'br',
    'b',
    'i',
    'u',
    's',
    'ul',
    'ol',
    'li',
    'blockquote',
    'code',
    'pre',
    'a',
    'a href=https://e.org',
    'a class=mighty-mention',
  ].flatMap((tag) => [`<${tag}>`, `</${tag.split(' ')[0]}>`]),
  ...[
    'script',
    'style',
    'title',
    'textarea',
    'iframe',
    'noscript',
    'noembed',
    'noframes',
    'xmp',
    'plaintext',
    'template',
    'select',
  ].flatMap((tag) => [`<${tag}>`, `</${tag}>`]),
  ...[
    'svg',
    'math',
    'mtext',
    'mglyph',
    'desc',
    'foreignObject',
    'annotation-xml encoding=text/html',
    'table',
    'tr',
    'td',
    'form',
    'img src=x onerror=alert(1)',
  ].flatMap((tag) => [`<${tag}>`, `</${tag.split(' ')[0]}>`]),
  ...[
    '<!--',
    '-->',
    '--!>',
    '<![CDATA[',
    ']]>',
    '<!',
    '<?',
    '?>',
    '<!doctype html>',
    '</',
    '<',
    '>',
    '/>',
    '/',
    '"',
    "'",
    '`',
    '=',
    '&',
    ';',
    '&lt;',
    '&gt;',
  ],
  ...[
    '&quot;',
    '&#60;',
    '&#x3c',
    '&#0;',
    '&Tab;',
    '&nbsp;',
    '\u0000',
    '\n',
    '\r',
    '\t',
    '\f',
    ' ',
    '\u202e',
    '\ud800',
    'a',
    'on',
    'onclick=',
    'href=',
    'dir=rtl ',
  ],
  ...[
    'https://',
    'https://e.org/',
    'javascript:',
    'mailto:x',
    '<a title="',
    "<a title='",
    '<a href="javascript:alert(1)">',
    '<p id="</p>',
    '<https://',
    'data-user-id=7 ',
  ],
]

test('whatever comes in, a browser sees what is written, only what is allowed, and the same comes out of it', () => {
  const html = fc.array(fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 3 })), { maxLength: 40 })
  fc.assert(
    fc.property(html, (parts) => {
      const once = commentHtml(parts.join(''))
      expect(commentHtml(once)).toBe(once)
      // What parsers replace in every text, and the first line break of preformatted text, which they leave out.
      const plain = (text: string) =>
        text
          .replaceAll('\u0000', '')
          .replace(/\r\n?/g, '\n')
          .replace(/(<pre[^>]*>)\n/g, '$1')
      expect(asParsed(once)).toBe(plain(once))
    }),
    { seed: 20_261_120, numRuns: 3000 },
  )
})

test('a long text is no trouble, whatever it is made of', () => {
  for (const piece of ['http', 'https://', 'https://a)', '(', ')', 'https://a.example/ ', '.', '&', "'", '<', '< ', '&#1']) {
    const text = piece.repeat(Math.floor(100_000 / piece.length))
    expect(commentHtml(text).length).toBeGreaterThanOrEqual(text.length)
  }
})

test('elements within each other are no deeper than 32', () => {
  for (const tag of ['b', 'ul', 'blockquote', 'ul><li', 'a href="https://e.org"><i', 'b dir="rtl"><x']) {
    const html = commentHtml(`<${tag}>`.repeat(Math.floor(100_000 / tag.length)) + 'x'.repeat(10))
    let [depth, deepest] = [0, 0]
    for (const [part] of html.matchAll(/<\/?[a-z]/g)) {
      depth += part.startsWith('</') ? -1 : 1
      deepest = Math.max(deepest, depth)
    }
    expect([depth, deepest <= 32, commentHtml(html) === html, textOfHtml(html).trim()]).toEqual([0, true, true, 'x'.repeat(10)])
  }
})
