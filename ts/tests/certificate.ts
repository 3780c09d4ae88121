import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Files of a certificate for localhost and 127.0.0.1, and the authority that clients have to trust. */
export interface Certificate {
  readonly cert: string
  readonly key: string
  readonly ca: string
}

/** Creates a self-signed certificate in a new folder. `isAuthority`: some clients refuse the certificate of an authority as that of a server. */
export function makeCertificate(folder: string, commonName = 'localhost', isAuthority = true): Certificate {
  mkdirSync(folder, { recursive: true })
  const cert = join(folder, 'cert.pem')
  const key = join(folder, 'key.pem')
  const names = 'subjectAltName=DNS:localhost,IP:127.0.0.1'
  const parameters = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', ...parameters, '-keyout', key, '-out', cert, '-subj', `/CN=${commonName}`, '-addext', names],
      ...(isAuthority ? [] : ['-addext', 'basicConstraints=critical,CA:FALSE']),
    ],
    { stdio: 'pipe' },
  )
  return { cert, key, ca: readFileSync(cert, 'utf8') }
}
