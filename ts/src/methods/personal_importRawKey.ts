import type { Answer } from '../rpc/envelope.ts'
import { positional } from '../rpc/method.ts'
import { privateKey } from '../rpc/parameters/privateKey.ts'
import { passphrase } from '../rpc/parameters/secret.ts'
import * as values from '../rpc/results/values.ts'
import { type Context, defineMethod } from './context.ts'

export const personal_importRawKey = defineMethod({
  params: positional([privateKey, passphrase]),
  result: values.address,
  answer: (context, [key, passphrase]) => storeKey(context, key, passphrase),
})

/** Encrypts and stores a key. The core rejects invalid keys first. */
export async function storeKey({ native }: Context, key: string, passphrase: string): Promise<Answer> {
  const address = JSON.parse(native.addressOfKey(key).toString()) as string
  const { encrypt } = await import('../keystore/secretStorage.ts')
  return native.storeKey(key, await encrypt(address, key, passphrase))
}
