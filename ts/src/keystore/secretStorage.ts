import { scrypt as derive } from 'node:crypto'
import { scrypt } from 'ethers/crypto'
import { decryptKeystoreJson, encryptKeystoreJson } from 'ethers/wallet'
import { code, RpcError } from '../rpc/errors.ts'

// Web3 Secret Storage, version 3. Loaded when the first key is stored or unlocked: most nodes never need it.

/** Memory limit of a key derivation, whose memory is a parameter of the file. */
const maxMemoryBytes = 2 ** 30

/** One derivation takes some hundred megabytes for half a second, so derivations run one after the other. */
let last: Promise<unknown> = Promise.resolve()

// `scrypt` of Node.js, in a thread of libuv, is several times faster than that of the library.
scrypt.register((password, salt, cost, blockSize, parallel, length) => {
  const options = { N: cost, r: blockSize, p: parallel, maxmem: maxMemoryBytes }
  return new Promise((resolve, reject) => {
    derive(password, salt, length, options, (error, key) => (error === null ? resolve(key) : reject(error)))
  })
})

/** Encrypts a private key (0x hex) with a passphrase. Returns the text of a keystore file. */
export function encrypt(address: string, privateKey: string, passphrase: string): Promise<string> {
  return oneAtATime(() => encryptKeystoreJson({ address, privateKey }, passphrase))
}

/** Decrypts the private key of a keystore file. Throws RpcError. */
export function decrypt(encrypted: string, passphrase: string): Promise<string> {
  return oneAtATime(async () => {
    try {
      return (await decryptKeystoreJson(encrypted, passphrase)).privateKey
    } catch (error) {
      // Errors of the library may contain their arguments, so their text is dropped.
      const isPassphrase = (error as { argument?: unknown }).argument === 'password'
      const message = isPassphrase ? 'could not decrypt key with given password' : 'the stored key cannot be read'
      throw new RpcError(code.notFound, message)
    }
  })
}

/** Runs `work` after all earlier calls have finished. */
function oneAtATime<T>(work: () => Promise<T>): Promise<T> {
  const result = last.then(work)
  last = result.catch(() => undefined)
  return result
}
