import { CommanderError } from 'commander'
import { reportFailure } from './cli/failure.ts'
import { createProgram } from './cli/program.ts'

try {
  const program = await createProgram(process.argv.slice(2))
  await program.parseAsync(process.argv)
} catch (error) {
  // Commander has already printed the problem.
  process.exitCode = error instanceof CommanderError ? (error.exitCode === 0 ? 0 : 2) : reportFailure(error)
}
