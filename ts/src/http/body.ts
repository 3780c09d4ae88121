// The global of this name is looked up through a getter each time.

import type { HttpResponse } from 'uWebSockets.js'
import { Buffer } from 'node:buffer'
import { maxParsedBytes } from '../rpc/largeText.ts'
import type { Reservation } from '../rpc/memoryBudget.ts'
import { Pieces } from './pieces.ts'

/** What became of a body. `held` counts the bytes of a body that arrived in pieces; it has to be released. */
export type Body =
  | { readonly bytes: Buffer; readonly held?: Reservation }
  | { readonly fault: 'too large' | 'too slow' | 'no memory' }

/** The same body, which stays valid after `done` has returned. */
export function owned(body: Body): Body {
  // What is held was copied when it arrived.
  if ('fault' in body || body.held !== undefined) return body
  return { bytes: Buffer.from(body.bytes) }
}

export interface BodyLimits {
  readonly maxBytes: number
  /** 0: no limit. */
  readonly timeMs: number
  /** Opens the reservation of a body that does not arrive in one piece. */
  readonly open: () => Reservation
  readonly intake: Intake
}

/** Bytes that a worker takes of large bodies before it looks at its other sockets again. */
const bytesPerTurn = 1_048_576

/** Lets large bodies of a worker come in one after the other, so that reading them does not hold up the others. */
export class Intake {
  /** Bodies that are held back, in the order in which they go on. */
  readonly #held = new Set<HttpResponse>()
  #leftBytes = bytesPerTurn
  #isEndNoted = false

  /** Counts a piece that more will follow. The rest of a large body may have to wait. */
  take(response: HttpResponse, bytes: number, isLarge: boolean): void {
    this.#leftBytes -= bytes
    if (isLarge && (this.#leftBytes <= 0 || this.#held.size > 0)) {
      this.#held.add(response)
      response.pause()
    }
    if (this.#isEndNoted) return
    this.#isEndNoted = true
    setImmediate(() => this.#begin())
  }

  /** To be called when a body is complete: what its connection sends next must not be held back. */
  release(response: HttpResponse): void {
    if (this.#held.delete(response)) response.resume()
  }

  /** To be called when the client has hung up: the response must not be touched any more. */
  forget(response: HttpResponse): void {
    this.#held.delete(response)
  }

  /** A turn begins: as many go on as can bring no more than is taken in one. */
  #begin(): void {
    this.#isEndNoted = false
    this.#leftBytes = bytesPerTurn
    for (const response of [...this.#held].slice(0, bodiesPerTurn)) {
      this.#held.delete(response)
      response.resume()
    }
    if (this.#held.size === 0) return
    this.#isEndNoted = true
    setImmediate(() => this.#begin())
  }
}

/** uWebSockets brings up to 512 KB of a connection at a time. */
const bodiesPerTurn = 2

/**
 * Collects a request body and hands it on once. uWebSockets takes its buffer back when the callback returns: a small body
 * that arrives in one piece is valid until `done` returns, all others are copied. Returns what has to be called when the
 * client hangs up.
 */
export function readBody(
  response: HttpResponse,
  { maxBytes, timeMs, open, intake }: BodyLimits,
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
    intake.release(response)
    held?.release()
    done({ fault })
  }
  response.onData((chunk, isLast) => {
    if (isDone) return
    if ((pieces?.length ?? 0) + chunk.byteLength > maxBytes) {
      fail('too large')
    } else if (isLast && pieces === undefined) {
      stop()
      const piece = Buffer.from(chunk)
      done({ bytes: piece.length > maxParsedBytes ? Buffer.from(piece) : piece })
    } else {
      pieces ??= new Pieces()
      held ??= open()
      if (!held.resize(pieces.allocatedWith(chunk.byteLength))) {
        fail('no memory')
        return
      }
      pieces.add(new Uint8Array(chunk))
      if (isLast) {
        const bytes = pieces.joined()
        stop()
        intake.release(response)
        held.count(bytes.length)
        done({ bytes, held })
      } else {
        intake.take(response, chunk.byteLength, pieces.length > maxParsedBytes)
        if (timeMs > 0) timer ??= setTimeout(() => fail('too slow'), timeMs)
      }
    }
  })
  return () => {
    intake.forget(response)
    if (isDone) return
    stop()
    held?.release()
  }
}
