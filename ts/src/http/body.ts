import type { HttpResponse } from 'uWebSockets.js'
// The global of this name is looked up through a getter each time.
import { Buffer } from 'node:buffer'
import { type LargeBody, maxParsedBytes } from '../rpc/largeBody.ts'
import type { Reservation } from '../rpc/memoryBudget.ts'
import { Pieces } from './pieces.ts'

/** A body, or the fault for which it was not read to its end. `held` counts the bytes of a copied body. */
export type Body =
  | { readonly bytes: Buffer | LargeBody; readonly held?: Reservation }
  | { readonly fault: 'too large' | 'too slow' | 'no memory' }

/** Returns a body that stays valid after `done` has returned. */
export function owned(body: Body): Body {
  if ('fault' in body || body.held !== undefined || !Buffer.isBuffer(body.bytes)) return body
  return { bytes: Buffer.from(body.bytes) }
}

/** Frees the memory of a body. */
export function release(body: Body): void {
  if ('fault' in body) return
  if (!Buffer.isBuffer(body.bytes)) body.bytes.close()
  body.held?.release()
}

export interface BodyLimits {
  readonly maxBytes: number
  /** 0: no limit. */
  readonly timeMs: number
  /** Opens the reservation of a body that is copied. */
  readonly open: () => Reservation
  readonly openLarge: () => LargeBody
  readonly throttle: BodyThrottle
}

/** Bytes of large bodies that a worker reads in one turn of its event loop. */
const bytesPerTurn = 1_048_576

/** Limits the bytes of large bodies that a worker reads in a turn: pauses their connections and resumes a few in each turn. */
export class BodyThrottle {
  /** Paused responses, in the order in which they are resumed. */
  readonly #paused = new Set<HttpResponse>()
  #leftBytes = bytesPerTurn
  #isScheduled = false

  /** Counts a piece that is not the last one. Pauses a large body if the turn has read enough. */
  take(response: HttpResponse, bytes: number, isLarge: boolean): void {
    this.#leftBytes -= bytes
    if (isLarge && (this.#leftBytes <= 0 || this.#paused.size > 0)) {
      this.#paused.add(response)
      response.pause()
    }
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#begin())
  }

  /** Resumes the connection of a complete body, so that its next request is read. */
  release(response: HttpResponse): void {
    if (this.#paused.delete(response)) response.resume()
  }

  /** Drops a response whose client has hung up. */
  forget(response: HttpResponse): void {
    this.#paused.delete(response)
  }

  /** Begins a turn: resumes as many bodies as can deliver the bytes of one turn. */
  #begin(): void {
    this.#isScheduled = false
    this.#leftBytes = bytesPerTurn
    for (const response of [...this.#paused].slice(0, bodiesPerTurn)) {
      this.#paused.delete(response)
      response.resume()
    }
    if (this.#paused.size === 0) return
    this.#isScheduled = true
    setImmediate(() => this.#begin())
  }
}

/** uWebSockets reads up to 512 KB of a connection at a time. */
const bodiesPerTurn = 2

/** Memory that the last block of a large body may take beyond its length. */
const blockBytes = 65_536

/**
 * Collects a request body and calls `done` once. uWebSockets takes its buffer back when the callback returns: a small body
 * that arrives in one piece is valid until `done` returns, any other body is copied. Returns the function to call when the
 * client hangs up.
 */
export function readBody(
  response: HttpResponse,
  { maxBytes, timeMs, open, openLarge, throttle }: BodyLimits,
  done: (body: Body) => void,
): () => void {
  let pieces: Pieces | undefined
  let large: LargeBody | undefined
  let held: Reservation | undefined
  let isDone = false
  let timer: NodeJS.Timeout | undefined
  const stop = (): void => {
    isDone = true
    clearTimeout(timer)
    pieces = undefined
  }
  const drop = (): void => {
    stop()
    large?.close()
    held?.release()
  }
  const fail = (fault: 'too large' | 'too slow' | 'no memory'): void => {
    drop()
    throttle.release(response)
    done({ fault })
  }
  const finish = (bytes: Buffer | LargeBody, reservation: Reservation): void => {
    stop()
    throttle.release(response)
    reservation.count(bytes.length)
    done({ bytes, held: reservation })
  }
  response.onData((chunk, isLast) => {
    if (isDone) return
    const length = (large?.length ?? pieces?.length ?? 0) + chunk.byteLength
    if (length > maxBytes) {
      fail('too large')
      return
    }
    const isLarge = length > maxParsedBytes
    if (isLast && pieces === undefined && !isLarge) {
      stop()
      done({ bytes: Buffer.from(chunk) })
      return
    }
    held ??= open()
    if (!isLarge) pieces ??= new Pieces()
    const neededBytes = isLarge ? length + blockBytes : (pieces?.allocatedWith(chunk.byteLength) ?? 0)
    if (!held.resize(neededBytes)) {
      fail('no memory')
      return
    }
    if (isLarge) {
      large ??= openLarge()
      if (pieces !== undefined) large.add(pieces.joined())
      pieces = undefined
      large.add(new Uint8Array(chunk))
    } else pieces?.add(new Uint8Array(chunk))
    if (isLast) finish(large ?? (pieces ?? new Pieces()).joined(), held)
    else {
      throttle.take(response, chunk.byteLength, isLarge)
      if (timeMs > 0) timer ??= setTimeout(() => fail('too slow'), timeMs)
    }
  })
  return () => {
    throttle.forget(response)
    if (!isDone) drop()
  }
}
