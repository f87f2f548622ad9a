import { chmod, type FileHandle, mkdtemp, open, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { platform } from 'node:process'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { directoryAssets, s3Assets } from '../../../adapters/ports/index.ts'
import { png } from '../../support/ports.ts'

const file = { id: '8f14e45f-ceea-467f-a5d3-000000000001', extension: 'png', content_type: 'image/png', name: "Röschen's.png" }
const name = `${file.id}.png`

const made: string[] = []
const emptyDirectory = async () => {
  const directory = await mkdtemp(join(tmpdir(), 'assets-'))
  made.push(directory)
  return directory
}
afterEach(() => Promise.all(made.splice(0).map((directory) => rm(directory, { recursive: true }))))

test('a directory keeps a file under its id and extension, and forgets it on demand', async () => {
  const directory = join(await emptyDirectory(), 'made', 'when', 'needed')
  const store = directoryAssets({ directory, baseUrl: 'https://cdn.example.org/assets' })
  expect(await store.put(png, file)).toBe(`https://cdn.example.org/assets/${name}`)
  expect(await readdir(directory)).toEqual([name])
  expect(new Uint8Array(await readFile(join(directory, name)))).toEqual(png)
  await store.remove(file)
  await store.remove(file)
  expect(await readdir(directory)).toEqual([])
})

/** Paths that are synced from now on, each with the names that a directory has then. */
async function syncs(): Promise<(readonly [string, readonly string[]])[]> {
  const seen: (readonly [string, readonly string[]])[] = []
  const probe = await open(await emptyDirectory())
  const prototype = Object.getPrototypeOf(probe) as FileHandle
  await probe.close()
  const { sync } = prototype
  const spy = vi.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
    const path = await readlink(`/proc/self/fd/${this.fd}`)
    seen.push([path, (await this.stat()).isDirectory() ? await readdir(path) : []])
    return sync.call(this)
  })
  onTestFinished(() => spy.mockRestore())
  return seen
}

test('a file is synced, then its name, and so is the name of a directory that is made', async ({ skip }) => {
  skip(platform !== 'linux', 'Linux alone names open files')
  const top = await emptyDirectory()
  const directory = join(top, 'made', 'assets')
  const store = directoryAssets({ directory, baseUrl: '/assets' })
  const seen = await syncs()
  await store.put(png, file)
  const unfinished = expect.stringMatching(/assets\/8f14e45f-.*\.part$/)
  expect(seen).toEqual([
    [top, ['made']],
    [join(top, 'made'), ['assets']],
    [unfinished, []],
    [directory, [name]],
  ])
  seen.length = 0
  await store.put(png, { ...file, id: '2' })
  expect(seen.map(([path]) => path)).toEqual([expect.stringMatching(/\.part$/), directory])
})

test('a failing sync is an error and leaves nothing behind, the one of the directory included', async () => {
  const directory = await emptyDirectory()
  const store = directoryAssets({ directory, baseUrl: '/assets' })
  const probe = await open(directory)
  const prototype = Object.getPrototypeOf(probe) as FileHandle
  await probe.close()
  const { sync } = prototype
  const broken = () => Promise.reject(Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO' }))
  for (const kind of ['isFile', 'isDirectory'] as const) {
    const spy = vi.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
      return (await this.stat())[kind]() ? broken() : sync.call(this)
    })
    await expect(store.put(png, file), kind).rejects.toMatchObject({ code: 'unavailable' })
    spy.mockRestore()
    expect(await readdir(directory), kind).toEqual([])
  }
})

test.each([
  [0o700, 0o600],
  [0o750, 0o640],
  [0o711, 0o600],
  [0o755, 0o644],
])('in a directory of mode %o a file has mode %o', async (mode, expected) => {
  const directory = await emptyDirectory()
  await chmod(directory, mode)
  await directoryAssets({ directory, baseUrl: '/assets' }).put(png, file)
  expect((await stat(join(directory, name))).mode & 0o777).toBe(expected)
})

test('a directory may be served on the origin that callers use', async () => {
  const store = directoryAssets({ directory: await emptyDirectory(), baseUrl: '/assets' })
  expect(await store.put(png, file)).toBe(`/assets/${name}`)
})

test('a directory that cannot be written to is an error and leaves nothing behind', async () => {
  const directory = await emptyDirectory()
  await writeFile(join(directory, 'file'), '')
  const store = directoryAssets({ directory: join(directory, 'file'), baseUrl: 'https://cdn.example.org/' })
  await expect(store.put(png, file)).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/^an upload cannot be stored: E/),
  })
  expect(await readdir(directory)).toEqual(['file'])
})

test.each([{ id: '../escape' }, { id: 'a/b' }, { extension: '../sh' }, { id: '' }])(
  'a file may not lead elsewhere: %j',
  async (part) => {
    const directory = await emptyDirectory()
    const store = directoryAssets({ directory, baseUrl: 'https://cdn.example.org' })
    await expect(store.put(png, { ...file, ...part })).rejects.toThrow('cannot be the name of a file')
    expect(await readdir(directory)).toEqual([])
  },
)

test.each([
  [{ directory: '', baseUrl: 'https://cdn.example.org' }, 'option `assets.directory` must name a directory'],
  [
    { directory: 'x', baseUrl: '//assets' },
    'option `assets.baseUrl` must be an absolute http or https URL, or a path such as /assets, got "//assets"',
  ],
  [{ directory: 'x', baseUrl: '/assets?a=b' }, 'option `assets.baseUrl` must be'],
  [{ directory: 'x', baseUrl: 'assets' }, 'option `assets.baseUrl` must be'],
  [{ directory: 'x', baseUrl: 'https://a.example/?b' }, 'option `assets.baseUrl` must be'],
])('wrong options are named: %j', (options, problem) => {
  expect(() => directoryAssets(options)).toThrow(problem)
})

test('an S3-compatible service gets the object with what it is and how it was called', async () => {
  const calls: unknown[] = []
  const client = {
    putObject: async (input: object) => calls.push(input),
    deleteObject: async (input: object) => calls.push(input),
  }
  const store = s3Assets({ client, bucket: 'files', prefix: 'up/', baseUrl: 'https://cdn.example.org/up' })
  expect(await store.put(png, file)).toBe(`https://cdn.example.org/up/${name}`)
  await store.remove(file)
  expect(calls).toEqual([
    {
      Bucket: 'files',
      Key: `up/${name}`,
      Body: png,
      ContentType: 'image/png',
      ContentDisposition: "inline; filename*=UTF-8''R%C3%B6schen%27s.png",
    },
    { Bucket: 'files', Key: `up/${name}` },
  ])
})
