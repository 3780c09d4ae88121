import { positional } from '../rpc/method.ts'
import { address } from '../rpc/parameters/address.ts'
import { duration } from '../rpc/parameters/duration.ts'
import { passphrase } from '../rpc/parameters/secret.ts'
import * as values from '../rpc/results/values.ts'
import { type Context, defineMethod } from './context.ts'

export const personal_unlockAccount = defineMethod({
  params: positional([address, passphrase, duration]),
  result: values.flag,
  async answer(context, [address, passphrase, milliseconds]) {
    const key = await storedKey(context, address, passphrase)
    return key === undefined ? 'false' : context.native.personalUnlockAccount(address, key, milliseconds)
  },
})

/** Returns the decrypted key of a stored account; undefined if the account is not stored. */
export async function storedKey({ native }: Context, address: string, passphrase: string): Promise<string | undefined> {
  const encrypted = JSON.parse(native.encryptedKey(address).toString()) as string | null
  if (encrypted === null) return undefined
  const { decrypt } = await import('../keystore/secretStorage.ts')
  return decrypt(encrypted, passphrase)
}
