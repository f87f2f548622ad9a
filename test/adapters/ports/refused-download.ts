/** Downloads an address whose name the guard refuses, on the runtime that it is started with, and prints the result. */
import process from 'node:process'
import { guardedDownloads } from '../../../adapters/ports/download.ts'

const refusal = Object.assign(new Error('inside'), { name: 'Refused' })
const { get } = guardedDownloads({ allows: () => true, lookup: (_name, _options, done) => done(refusal, '') })
console.log(JSON.stringify(await get(process.argv[2] ?? '', 1000)))
process.exit()
