import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { skill, skillPath } from '../../scripts/skill.ts'

test('the skill for agents is that of the current pages, and each of its parts is there', () => {
  const text = skill()
  const written = readFileSync(join(import.meta.dirname, '..', '..', skillPath), 'utf8')
  expect(written === text ? 'current' : 'out of date: run `npx node scripts/skill.ts`').toBe('current')
  expect(text).toMatch(/^---\nname: folkmoot\ndescription: .{100,1024}\n---\n/)
  expect(text).toContain("import { createCommunity } from 'folkmoot'")
  expect(text).toContain('- **Before body parsers.**')
  for (const [row] of text.matchAll(/^\| `docs.*$/gm)) expect(row).toMatch(/^\| `docs\/[\w/-]+\.md` \| [^:|]+: .{20,} \|$/)
})
