/** The size of the client in a bundle, and what it brings along. */
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { expect, test } from 'vitest'

test('a bundle of the client has no package, nothing of the server, and less than 10 KB compressed', async () => {
  const bundle = await rolldown({ input: 'lib/client/index.ts', platform: 'browser', external: (id) => !/^[./]/.test(id) })
  const { output } = await bundle.generate({ format: 'esm', minify: true })
  await bundle.close()
  const [chunk, ...others] = output
  expect(others).toEqual([])
  expect(chunk.imports).toEqual([])
  expect(Object.keys(chunk.modules).filter((path) => !path.includes('/lib/client/'))).toEqual([])
  expect(gzipSync(chunk.code).length).toBeLessThan(10_000)
})
