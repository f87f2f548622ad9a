import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDirectory } from './directory.ts'

export interface Certificate {
  readonly key: Buffer
  readonly cert: Buffer
  /** The certificate's file. */
  readonly certFile: string
}

export interface CertificateOptions {
  readonly days?: number
  /** More lines of extensions. */
  readonly extensions?: string
  /** As `openssl req -newkey` takes it. */
  readonly newKey?: readonly string[]
}

const ellipticKey = ['ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']

/**
 * A certificate for a name that vouches for itself, made for this test.
 * @param directory where its files are; by default they go with the test
 */
export function certificateFor(
  name: string,
  { days = 30, extensions = '', newKey = ellipticKey }: CertificateOptions = {},
  directory = temporaryDirectory(),
): Certificate {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: directory, stdio: 'ignore' })
  writeFileSync(join(directory, 'names'), `subjectAltName=DNS:${name}\n${extensions}`)
  openssl(
    ...['req', '-new', '-newkey', ...newKey, '-nodes'],
    ...['-keyout', 'key.pem', '-out', 'request.pem', '-subj', `/CN=${name}`],
  )
  openssl(
    ...['x509', '-req', '-in', 'request.pem', '-signkey', 'key.pem', '-days', String(days), '-extfile', 'names'],
    ...['-out', 'cert.pem'],
  )
  const certFile = join(directory, 'cert.pem')
  return { key: readFileSync(join(directory, 'key.pem')), cert: readFileSync(certFile), certFile }
}
