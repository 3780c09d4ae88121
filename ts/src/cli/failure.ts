import { ConfigError } from '../config/error.ts'
import { RpcError } from '../rpc/errors.ts'

/** Prints why a command failed and returns the exit code: 2 for invalid usage, else 1. */
export function reportFailure(error: unknown): number {
  const problems = error instanceof ConfigError ? error.problems : [reasonOf(error)]
  process.stderr.write(`${problems.map((problem) => `rhizome: ${problem}`).join('\n')}\n`)
  return error instanceof ConfigError ? 2 : 1
}

/** Returns the reason, with details that the node hides from callers of the API. */
function reasonOf(error: unknown): string {
  if (error instanceof RpcError && error.defect !== undefined) return error.defect
  return error instanceof Error ? error.message : String(error)
}
