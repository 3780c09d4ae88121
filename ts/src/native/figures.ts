import type { NodeFigures } from '../observe/nodeFigures.ts'
import type { Addon } from './bindings.ts'

/** Undefined when no node is open. */
export function nodeFigures(native: Addon): NodeFigures | undefined {
  try {
    return JSON.parse(native.nodeFigures()) as NodeFigures
  } catch {
    return undefined
  }
}
