// The global of this name is looked up through a getter each time.

import type { HttpResponse } from 'uWebSockets.js'
import { Buffer } from 'node:buffer'
import { bodyText } from '../rpc/bodyText.ts'

/** What became of a body. */
export type Body = { readonly text: string } | { readonly fault: 'too large' | 'too slow' | 'not UTF-8' }

/**
 * Collects a request body and hands it on once. uWebSockets takes its buffer back when the callback returns, so a body
 * that arrives in one piece is decoded at once and one in pieces is copied. `timeMs` 0 means no limit. Returns what has to be
 * called when the client hangs up.
 */
export function readBody(
  response: HttpResponse,
  { maxBytes, timeMs }: { readonly maxBytes: number; readonly timeMs: number },
  done: (body: Body) => void,
): () => void {
  let pieces: Buffer | undefined
  let isDone = false
  let timer: NodeJS.Timeout | undefined
  const finish = (body: Body): void => {
    isDone = true
    clearTimeout(timer)
    done(body)
  }
  response.onData((chunk, isLast) => {
    if (isDone) return
    const piece = Buffer.from(chunk)
    if ((pieces?.length ?? 0) + piece.length > maxBytes) {
      finish({ fault: 'too large' })
    } else if (isLast) {
      finish(decode(pieces === undefined ? piece : Buffer.concat([pieces, piece])))
    } else {
      pieces = pieces === undefined ? Buffer.from(piece) : Buffer.concat([pieces, piece])
      if (timeMs > 0) timer ??= setTimeout(() => finish({ fault: 'too slow' }), timeMs)
    }
  })
  return () => clearTimeout(timer)
}

function decode(bytes: Buffer): Body {
  const text = bodyText(bytes)
  return text === undefined ? { fault: 'not UTF-8' } : { text }
}
