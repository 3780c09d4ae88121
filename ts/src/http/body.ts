import type { HttpResponse } from 'uWebSockets.js'
import { bodyText } from '../rpc/bodyText.ts'

/** What became of a body. */
export type Body = { readonly text: string } | { readonly fault: 'too large' | 'not UTF-8' }

/**
 * Collects a request body and hands it on once. uWebSockets takes its buffer back when the callback returns, so a body
 * that arrives in one piece is decoded at once and one in pieces is copied.
 */
export function readBody(response: HttpResponse, maxBytes: number, done: (body: Body) => void): void {
  let pieces: Buffer | undefined
  let isDone = false
  response.onData((chunk, isLast) => {
    if (isDone) return
    const piece = Buffer.from(chunk)
    if ((pieces?.length ?? 0) + piece.length > maxBytes) {
      isDone = true
      done({ fault: 'too large' })
    } else if (isLast) {
      isDone = true
      done(decode(pieces === undefined ? piece : Buffer.concat([pieces, piece])))
    } else {
      pieces = pieces === undefined ? Buffer.from(piece) : Buffer.concat([pieces, piece])
    }
  })
}

function decode(bytes: Buffer): Body {
  const text = bodyText(bytes)
  return text === undefined ? { fault: 'not UTF-8' } : { text }
}
