import type { Artifacts } from './artifacts.ts'
import { type FailedCall, failureText, shown } from './failureText.ts'

/** Lines of a tree, and levels below the transaction. */
const maxLines = 24
const maxDepth = 8

/** A call of the callTracer with its inner calls. */
export interface TracedCall extends FailedCall {
  readonly type: string
  readonly to?: string
  readonly input?: string
  readonly calls?: readonly TracedCall[]
}

/** Returns the addresses that the lines of a tree may name. */
export function addressesIn(call: TracedCall): ReadonlySet<string> {
  const found = new Set<string>()
  const add = ({ to, calls = [] }: TracedCall, depth: number): void => {
    if (found.size >= maxLines) return
    if (to !== undefined) found.add(to)
    if (depth < maxDepth) for (const inner of calls) add(inner, depth + 1)
  }
  add(call, 0)
  return found
}

/** Returns why a call failed; custom errors with their arguments, if an artifact has them. */
export function reasonOf(call: FailedCall | null, artifacts: Artifacts | undefined): string {
  const custom = call?.output === undefined ? undefined : artifacts?.error(call.output)
  return custom === undefined ? failureText(call) : `revert ${custom}`
}

/** Returns the calls of a failed transaction, one a line. `codeOf` returns the code at an address. */
export function treeOf(call: TracedCall, artifacts: Artifacts, codeOf: (address: string) => string): string[] {
  const lines: string[] = []
  const add = (one: TracedCall, depth: number): void => {
    if (lines.length >= maxLines) return
    const end = one.error === undefined ? '' : `  failed: ${reasonOf(one, artifacts)}`
    lines.push(`${'  '.repeat(depth)}${named(one, artifacts, codeOf)}${end}`)
    if (depth < maxDepth) for (const inner of one.calls ?? []) add(inner, depth + 1)
  }
  add(call, 0)
  return lines.length < maxLines ? lines : [...lines.slice(0, maxLines - 1), '...']
}

function named(
  { type, to = '', input = '0x' }: TracedCall,
  artifacts: Artifacts,
  codeOf: (at: string) => string,
): string {
  if (type.startsWith('CREATE')) return shown(`create ${artifacts.createdBy(input) ?? 'a contract'}`)
  const code = codeOf(to)
  const method = artifacts.call(input, code)?.text ?? (input.length >= 10 ? `${input.slice(0, 10)}(...)` : 'receive()')
  const kind = type === 'CALL' ? '' : ` [${type.toLowerCase()}]`
  return `${shown(`${artifacts.nameOf(code) ?? to}.${method}`)}${kind}`
}
