import { scrypt as derive } from 'node:crypto'
import { scrypt } from 'ethers/crypto'
import { decryptKeystoreJson, encryptKeystoreJson } from 'ethers/wallet'
import { code, RpcError } from '../rpc/errors.ts'

// Web3 Secret Storage, version 3. Loaded when the first key is stored or unlocked: most nodes never need it.

/** A file may ask for any amount of memory; more than this is refused. */
const mostBytes = 2 ** 30

/** One derivation takes some hundred megabytes for half a second, so they wait for each other. */
let last: Promise<unknown> = Promise.resolve()

// The machine's own implementation, on a thread of its own, is several times faster than the library's.
scrypt.register((password, salt, cost, blockSize, parallel, length) => {
  const options = { N: cost, r: blockSize, p: parallel, maxmem: mostBytes }
  return new Promise((resolve, reject) => {
    derive(password, salt, length, options, (error, key) => (error === null ? resolve(key) : reject(error)))
  })
})

/** Encrypts a private key (0x hex) under a passphrase: the text of a file that other tools read. */
export function encrypt(address: string, privateKey: string, passphrase: string): Promise<string> {
  return alone(() => encryptKeystoreJson({ address, privateKey }, passphrase))
}

/** The private key in an encrypted text. */
export function decrypt(encrypted: string, passphrase: string): Promise<string> {
  return alone(async () => {
    try {
      return (await decryptKeystoreJson(encrypted, passphrase)).privateKey
    } catch (error) {
      // The library's errors may hold what they complain about, so nothing of them is passed on.
      const isPassphrase = (error as { argument?: unknown }).argument === 'password'
      const message = isPassphrase ? 'could not decrypt key with given password' : 'the stored key cannot be read'
      throw new RpcError(code.notFound, message)
    }
  })
}

function alone<T>(work: () => Promise<T>): Promise<T> {
  const result = last.then(work)
  last = result.catch(() => undefined)
  return result
}
