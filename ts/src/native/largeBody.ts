import type { LargeBody } from '../rpc/largeBody.ts'
import type { Addon } from './bindings.ts'

/** Makes large bodies whose bytes are held by the addon. */
export function largeBodies(addon: Addon): () => LargeBody {
  return () => {
    const body = addon.openBody()
    let length = 0
    return {
      get length() {
        return length
      },
      add(piece) {
        addon.addToBody(body, piece)
        length += piece.length
      },
      split: (maxRequests, deadlineMs, token) => addon.splitBody(body, maxRequests, deadlineMs, token),
      text: (start, end) => addon.bodyText(body, start, end),
      bytes: (start, end) => addon.bodyBytes(body, start, end),
      part: (start, end) => addon.bodyPart(body, start, end),
      close: () => addon.closeBody(body),
    }
  }
}
