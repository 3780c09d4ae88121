import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { constants, createGzip, gzip } from 'node:zlib'
import { LongAnswer, type Message } from '../rpc/longAnswer.ts'

const fromBytes = 1024
/** The fastest level: hex text shrinks well at any. */
const options = { level: constants.Z_BEST_SPEED }
const compress = promisify(gzip)

/** Returns whether the answer is large enough and the client accepts gzip. */
export function isWorthCompressing(answer: Message, acceptEncoding: string): boolean {
  return answer.length >= fromBytes && /(^|[ ,])gzip([ ,;]|$)/i.test(acceptEncoding)
}

/** Compresses in a thread of libuv. */
export async function compressed(answer: Message): Promise<LongAnswer> {
  const isLong = answer instanceof LongAnswer
  return new LongAnswer([
    await (isLong ? buffer(answer.toStream().pipe(createGzip(options))) : compress(answer, options)),
  ])
}
