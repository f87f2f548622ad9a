#!/usr/bin/env node
/** `npm create folkmoot my-community` is `folkmoot init my-community`. */
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

const require = createRequire(import.meta.url)
const manifest = require.resolve('folkmoot/package.json')
process.argv.splice(2, 0, 'init')
await import(pathToFileURL(join(dirname(manifest), require(manifest).bin.folkmoot)).href)
