import { createPrivateKey, type X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { errorCode } from '../../../adapters/files/errors.ts'
import { certificatesIn } from '../../certificates.ts'
import { UsageError } from '../../usage.ts'

export interface CertificateFiles {
  readonly tlsCert: string
  readonly tlsKey: string
}

/**
 * Reads a certificate and its key, and checks that they are one and match.
 * @throws UsageError that names the option
 */
export async function readCertificate({
  tlsCert,
  tlsKey,
}: CertificateFiles): Promise<{ readonly cert: Buffer; readonly key: Buffer }> {
  const [cert, key] = [await readPem('--tls-cert', tlsCert), await readPem('--tls-key', tlsKey)]
  const certificate = parsed('--tls-cert', tlsCert, 'a certificate', () => firstOf(certificatesIn(cert.toString('latin1'))))
  const privateKey = parsed('--tls-key', tlsKey, 'a private key without a passphrase', () => createPrivateKey(key))
  if (!certificate.checkPrivateKey(privateKey)) throw new UsageError('--tls-key is not the key of --tls-cert')
  return { cert, key }
}

async function readPem(option: string, file: string): Promise<Buffer> {
  return readFile(file).catch((error: unknown) => {
    throw new UsageError(`${option} ${file} cannot be read (${errorCode(error)})`)
  })
}

function firstOf([first]: readonly X509Certificate[]): X509Certificate {
  if (first === undefined) throw new Error('no certificate')
  return first
}

function parsed<T>(option: string, file: string, what: string, parse: () => T): T {
  try {
    return parse()
  } catch {
    throw new UsageError(`${option} ${file} must be ${what} in PEM`)
  }
}
