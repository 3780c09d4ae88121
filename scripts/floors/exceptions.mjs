// Exceptions from the limits of scripts/floors/shape.mjs, each with its reason.

/** Type names that the workspace may define more than once: `{ name, reason }`. */
export const sharedNames = []

/** Types with `impl` blocks in more than 3 files: `{ crate, name, reason }`. */
export const spreadTypes = []

/** Circles of more than 3 files: `{ files, reason }`. */
export const knownCircles = []
