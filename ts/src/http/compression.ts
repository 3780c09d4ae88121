import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import type { Answer } from '../rpc/envelope.ts'

const fromBytes = 1024
const compress = promisify(gzip)

/** Whether this answer goes out compressed: large enough, wanted, and not to this very machine unless that is asked for. */
export function isWorthCompressing(answer: Answer, acceptEncoding: string, isWanted: boolean): boolean {
  return isWanted && answer.length >= fromBytes && /(^|[ ,])gzip([ ,;]|$)/i.test(acceptEncoding)
}

/** Runs beside the worker's loop. The fastest level: hex text shrinks well at any. */
export function compressed(answer: Answer): Promise<Buffer> {
  return compress(answer, { level: constants.Z_BEST_SPEED })
}
