import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import type { Answer } from '../rpc/envelope.ts'

const fromBytes = 1024
const compress = promisify(gzip)

/** Whether this answer is large enough, and the client takes gzip. */
export function isWorthCompressing(answer: Answer, acceptEncoding: string): boolean {
  return answer.length >= fromBytes && /(^|[ ,])gzip([ ,;]|$)/i.test(acceptEncoding)
}

/** Runs beside the worker's loop. The fastest level: hex text shrinks well at any. */
export function compressed(answer: Answer): Promise<Buffer> {
  return compress(answer, { level: constants.Z_BEST_SPEED })
}
