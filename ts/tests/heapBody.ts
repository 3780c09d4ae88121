import type { LargeBody } from '../src/rpc/largeBody.ts'

/** A large body for tests without the addon. `split` says where the requests of the text are, as the addon does. */
export function heapBody(split: (text: string) => string, bytes = Buffer.alloc(0)): LargeBody {
  let whole = bytes
  return {
    get length() {
      return whole.length
    },
    add(piece) {
      whole = Buffer.concat([whole, piece])
    },
    split: async () => split(whole.toString()),
    text: (start, end) => whole.toString('utf8', start, end),
    bytes: (start, end) => whole.subarray(start, end),
    part: (start, end) => whole.subarray(start, end),
    close() {},
  }
}
