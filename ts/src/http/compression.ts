import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import type { Answer } from '../rpc/envelope.ts'

const fromBytes = 1024
const compress = promisify(gzip)

/** Returns whether the answer is large enough and the client accepts gzip. */
export function isWorthCompressing(answer: Answer, acceptEncoding: string): boolean {
  return answer.length >= fromBytes && /(^|[ ,])gzip([ ,;]|$)/i.test(acceptEncoding)
}

/** Compresses in a thread of libuv. At the fastest level, because hex text shrinks well at any. */
export function compressed(answer: Answer): Promise<Buffer> {
  return compress(answer, { level: constants.Z_BEST_SPEED })
}
