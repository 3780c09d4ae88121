import { ConfigError } from '../config/error.ts'

/** Prints why a command failed, in one or a few lines, and returns the exit code: 2 for wrong usage, else 1. */
export function reportFailure(error: unknown): number {
  const problems =
    error instanceof ConfigError ? error.problems : [error instanceof Error ? error.message : String(error)]
  process.stderr.write(`${problems.map((problem) => `rhizome: ${problem}`).join('\n')}\n`)
  return error instanceof ConfigError ? 2 : 1
}
