import { ConfigError } from '../config/error.ts'
import { RpcError } from '../rpc/errors.ts'

/** Prints why a command failed, in one or a few lines, and returns the exit code: 2 for wrong usage, else 1. */
export function reportFailure(error: unknown): number {
  const problems = error instanceof ConfigError ? error.problems : [reasonOf(error)]
  process.stderr.write(`${problems.map((problem) => `rhizome: ${problem}`).join('\n')}\n`)
  return error instanceof ConfigError ? 2 : 1
}

/** Commands show details that the node withholds from callers. */
function reasonOf(error: unknown): string {
  if (error instanceof RpcError && error.defect !== undefined) return error.defect
  return error instanceof Error ? error.message : String(error)
}
