import { X509Certificate } from 'node:crypto'

const block = /-----BEGIN ([A-Z0-9 ]+)-----[^-]+-----END \1-----/g

/** The certificates in a text of PEM; none if anything in it is cut off or is none: what is left would be less than was meant. */
export function certificatesIn(pem: string): readonly X509Certificate[] {
  if (/^-/m.test(pem.replace(block, ''))) return []
  try {
    const blocks = pem.match(block) ?? []
    return blocks.filter((each) => each.startsWith('-----BEGIN CERTIFICATE-----')).map((each) => new X509Certificate(each))
  } catch {
    return []
  }
}
