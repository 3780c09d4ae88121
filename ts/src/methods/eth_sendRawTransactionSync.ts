import type { Answer, CoreText } from '../rpc/envelope.ts'
import { overloaded, RpcError } from '../rpc/errors.ts'
import { positional } from '../rpc/method.ts'
import { bytes, ofAnySize } from '../rpc/parameters/bytes.ts'
import { wholeNumber } from '../rpc/parameters/wholeNumber.ts'
import { Places } from '../rpc/places.ts'
import type { RequestContext } from '../rpc/requestContext.ts'
import * as chain from '../rpc/results/chain.ts'
import { type Context, defineMethod } from './context.ts'

/** Distance of two looks for the receipt. A new head ends the pause; a client that has disconnected does not. */
const lookMs = 1000
/** EIP-7966: the transaction was accepted, and no block has it in time. */
const notProcessed = 4

/** Transactions that may be waited for at the same time by one worker. */
const waiting = new Places(256)

export const eth_sendRawTransactionSync = defineMethod({
  params: positional([ofAnySize(bytes)], [wholeNumber('timeoutMs', 0x7fffffff)]),
  result: chain.receipt,
  async answer(context, [data, timeoutMs = 0], request) {
    const { client } = request
    if (!waiting.take(client)) throw overloaded()
    try {
      const hash = await send(context, data, request)
      const limitMs = timeoutMs === 0 ? context.sendWaitMs : Math.min(timeoutMs, context.sendWaitMs)
      return await minedReceipt(context, hash, limitMs, request)
    } finally {
      waiting.free(client)
    }
  },
})

/** Sends and returns the hash; also if the transaction is refused but mined: with instant mining, a revert arrives as an error. */
async function send(context: Context, data: CoreText, request: RequestContext): Promise<string> {
  try {
    const sent = request.run((deadlineMs, token) => context.native.ethSendRawTransaction(data, deadlineMs, token))
    return hashIn(await sent)
  } catch (error) {
    const hashed = request.run((deadlineMs, token) => context.native.web3Sha3(data, deadlineMs, token))
    const hash = hashIn(await hashed)
    if (receiptOf(context, hash) === undefined) throw error
    return hash
  }
}

/** Looks for the receipt after each change of the head, until the time is over or the client has disconnected. */
async function minedReceipt(context: Context, hash: string, limitMs: number, request: RequestContext): Promise<Answer> {
  const end = performance.now() + limitMs
  for (let left = limitMs; left > 0 && !request.isAborted; left = end - performance.now()) {
    const changed = context.heads.next(Math.min(lookMs, left))
    // Registered before the look, so that no block is missed.
    const receipt = receiptOf(context, hash)
    if (receipt !== undefined) return receipt
    await changed
  }
  throw new RpcError(notProcessed, `The transaction was accepted, but no block contains it after ${limitMs} ms`, hash)
}

function receiptOf(context: Context, hash: string): Answer | undefined {
  const receipt = context.native.ethGetTransactionReceipt(hash)
  return textOf(receipt) === 'null' ? undefined : receipt
}

function hashIn(answer: Answer): string {
  return JSON.parse(textOf(answer)) as string
}

function textOf(answer: Answer): string {
  return typeof answer === 'string' ? answer : answer.toString('latin1')
}
