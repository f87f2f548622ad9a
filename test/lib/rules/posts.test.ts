import { expect, test } from 'vitest'
import { summaryOf } from '../../../lib/rules/posts.ts'

test.each([
  ['nothing', null, ''],
  ['a short text', '  Good   morning\nall ', 'Good morning all'],
  ['markup', '<p>Good <b>morning</b></p> all', 'Good morning all'],
  ['280 characters', 'x'.repeat(280), 'x'.repeat(280)],
  ['281 characters', 'x'.repeat(281), `${'x'.repeat(279)}…`],
  ['a long text', 'word '.repeat(400), `${'word '.repeat(55)}word…`],
  ['much room between words', `a${' '.repeat(2000)}b`, 'a b'],
  ['words behind much room', `${' '.repeat(2000)}${'x'.repeat(300)}`, `${'x'.repeat(279)}…`],
  ['markup behind many words', `${'x'.repeat(270)} <b>bold</b> ${'y'.repeat(600)}`, `${'x'.repeat(270)} bold yyy…`],
  [
    'a tag across the 560th character',
    `${'x'.repeat(100)} ${' '.repeat(450)}<b title="${'t'.repeat(300)}">end</b>`,
    `${'x'.repeat(100)} end`,
  ],
  ['a surrogate pair where the text is cut', `${'x'.repeat(278)}👩${'y'.repeat(600)}`, `${'x'.repeat(278)}…`],
  ['references', '<p>Fish &amp; Chips&nbsp;5&nbsp;&euro; &#8211; &#x1F41F;</p>', 'Fish & Chips 5 € – 🐟'],
  ['references without a tag', 'Fish &amp; Chips', 'Fish & Chips'],
  ['escaped markup', '&lt;script&gt;alert(1)&lt;/script&gt;', '<script>alert(1)</script>'],
  ['references of references', '&amp;lt;', '&lt;'],
  ['scripts and styles', '<style>x{}</style>hi<script>if (1<2) x</script><!-- no -->', 'hi'],
  ['a bracket in an attribute', '<p title="a>b">q</p>', 'q'],
  ['comparisons', '<p>1 < 2 & 3 > 2</p>', '1 < 2 & 3 > 2'],
  ['emphasis within a word', '<p>b<b>o</b>ld</p><p>x<br>y</p>', 'bold x y'],
])('the summary of %s', (_, description, summary) => {
  expect(summaryOf(description)).toBe(summary)
})
