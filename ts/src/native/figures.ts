import type { NodeFigures } from '../observe/nodeFigures.ts'
import type { Addon } from './bindings.ts'

/** Returns the statistics of the node, undefined if none is open. */
export function nodeFigures(native: Addon): NodeFigures | undefined {
  try {
    return JSON.parse(native.nodeFigures()) as NodeFigures
  } catch {
    return undefined
  }
}
