// The global of this name is looked up through a getter each time.

import type { HttpResponse } from 'uWebSockets.js'
import { Buffer } from 'node:buffer'
import { bodyText } from '../rpc/bodyText.ts'
import type { Reservation } from '../rpc/memoryBudget.ts'
import { Pieces } from './pieces.ts'

/** What became of a body. `held` counts the bytes of a body that arrived in pieces; it has to be released. */
export type Body =
  | { readonly text: string; readonly held?: Reservation }
  | { readonly fault: 'too large' | 'too slow' | 'not UTF-8' | 'no memory' }

export interface BodyLimits {
  readonly maxBytes: number
  /** 0: no limit. */
  readonly timeMs: number
  /** Opens the reservation of a body that does not arrive in one piece. */
  readonly open: () => Reservation
}

/**
 * Collects a request body and hands it on once. uWebSockets takes its buffer back when the callback returns, so a body
 * that arrives in one piece is decoded at once and one in pieces is copied. Returns what has to be called when the client
 * hangs up.
 */
export function readBody(
  response: HttpResponse,
  { maxBytes, timeMs, open }: BodyLimits,
  done: (body: Body) => void,
): () => void {
  let pieces: Pieces | undefined
  let held: Reservation | undefined
  let isDone = false
  let timer: NodeJS.Timeout | undefined
  /** Drops what has arrived. */
  const stop = (): void => {
    isDone = true
    clearTimeout(timer)
    pieces = undefined
  }
  const fail = (fault: 'too large' | 'too slow' | 'no memory'): void => {
    stop()
    held?.release()
    done({ fault })
  }
  response.onData((chunk, isLast) => {
    if (isDone) return
    if ((pieces?.length ?? 0) + chunk.byteLength > maxBytes) {
      fail('too large')
    } else if (isLast && pieces === undefined) {
      stop()
      done(decode(Buffer.from(chunk)))
    } else {
      pieces ??= new Pieces()
      held ??= open()
      if (!held.resize(pieces.allocatedWith(chunk.byteLength))) {
        fail('no memory')
        return
      }
      pieces.add(new Uint8Array(chunk))
      if (isLast) {
        const whole = pieces.joined()
        stop()
        done(decode(whole, held))
      } else if (timeMs > 0) timer ??= setTimeout(() => fail('too slow'), timeMs)
    }
  })
  return () => {
    if (isDone) return
    stop()
    held?.release()
  }
}

function decode(bytes: Buffer, held?: Reservation): Body {
  const text = bodyText(bytes)
  if (text !== undefined) {
    held?.count(bytes.length)
    return held === undefined ? { text } : { text, held }
  }
  held?.release()
  return { fault: 'not UTF-8' }
}
