import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { platform } from 'node:process'
import { expect, test } from 'vitest'
import { makeDirectory } from '../../../adapters/files/directory.ts'
import { temporaryDirectory } from '../../support/directory.ts'

const modeOf = (path: string) => statSync(path).mode & 0o777

test('a directory is made with those above it, for its user alone, and one that exists stays as it is', () => {
  const top = temporaryDirectory()
  mkdirSync(join(top, 'a'))
  chmodSync(join(top, 'a'), 0o755)
  expect(makeDirectory(join(top, 'a/b/c'))).toEqual([join(top, 'a'), join(top, 'a/b')])
  expect([makeDirectory(join(top, 'a/b/c')), makeDirectory(join(top, 'a'))]).toEqual([[], []])
  expect(['a', 'a/b', 'a/b/c'].map((path) => modeOf(join(top, path)))).toEqual([0o755, 0o700, 0o700])
  symlinkSync(join(top, 'a'), join(top, 'link'))
  makeDirectory(join(top, 'link'))
  makeDirectory(join(top, 'link/d'))
  expect(statSync(join(top, 'a/d')).isDirectory()).toBe(true)
})

test('a file where the directory should be is an error', () => {
  const top = temporaryDirectory()
  writeFileSync(join(top, 'file'), '')
  expect(() => makeDirectory(join(top, 'file'))).toThrow('EEXIST')
  expect(() => makeDirectory(join(top, 'file/a'))).toThrow('ENOTDIR')
})

// Node itself does not return here, so a regression ends the whole run by its time-out.
test('a directory that takes no others is an error, and no loop without an end', ({ skip }) => {
  skip(platform !== 'linux', 'Linux alone has /proc')
  expect(() => makeDirectory('/proc/folkmoot/a/b')).toThrow(/ENOENT.*\/proc\/folkmoot'/)
})
