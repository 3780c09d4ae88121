import { createHash, createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Address, addressesOf } from './addresses.ts'
import { ConfigError } from './error.ts'
import type { Config } from './schema.ts'

/**
 * Reads the certificates of all addresses, so that a mistake is found before the first client connects. Returns a hash of
 * all files, which differs when one of them has changed. Throws ConfigError.
 */
export function checkCertificates(config: Config): string {
  const problems: string[] = []
  const hash = createHash('sha256')
  for (const address of addressesOf(config)) hash.update(readCertificate(address, problems))
  if (problems.length > 0) throw new ConfigError(problems)
  return hash.digest('hex')
}

function readCertificate({ path, tls }: Address, problems: string[]): string {
  if (tls === undefined) return ''
  const read = (name: string, file: string): string => {
    try {
      return readFileSync(file, 'utf8')
    } catch (error) {
      problems.push(`${path}.${name}: ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`)
      return ''
    }
  }
  const cert = read('tlsCert', tls.cert)
  const key = read('tlsKey', tls.key)
  if (cert === '' || key === '') return ''
  const problem = mismatch(cert, key, tls)
  if (problem !== undefined) problems.push(`${path}.${problem}`)
  return `${cert.length} ${cert}${key}`
}

/** Checks that certificate and key match. The problem never contains the content of the files. */
function mismatch(cert: string, key: string, files: { cert: string; key: string }): string | undefined {
  let certificate: X509Certificate
  try {
    certificate = new X509Certificate(cert)
  } catch {
    return `tlsCert: ${files.cert} contains no certificate in PEM form`
  }
  try {
    const privateKey = createPrivateKey(key)
    if (!certificate.checkPrivateKey(privateKey)) return `tlsKey: ${files.key} is not the key of ${files.cert}`
  } catch {
    return `tlsKey: ${files.key} ${key.includes('ENCRYPTED') ? 'is encrypted with a passphrase' : 'contains no private key in PEM form'}`
  }
  if (Date.parse(certificate.validTo) <= Date.now()) return `tlsCert: ${files.cert} expired ${certificate.validTo}`
  return undefined
}
