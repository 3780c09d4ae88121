// Exceptions from the limits of scripts/floors/shape.mjs, each with its reason.

/** Type names that the workspace may define more than once: `{ name, reason }`. */
export const sharedNames = []

/** Types with `impl` blocks in more than 3 files: `{ crate, name, reason }`. */
export const spreadTypes = [
  {
    crate: 'answers',
    name: 'RpcError',
    reason: 'conversions from the errors of a subject are beside the subject; the type itself has one impl block',
  },
]

/** Circles of more than 3 files: `{ files, reason }`. */
export const knownCircles = []
