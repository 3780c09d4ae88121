// Runs programs and prints their progress.
import { spawn, spawnSync } from 'node:child_process'

/** An error that the user has to fix. Printed without a stack. */
export class SetupError extends Error {}

/** Returns the output of a program; undefined if it cannot be run or fails. */
export function outputOf(command, parameters, options = {}) {
  const result = spawnSync(command, parameters, { encoding: 'utf8', ...options })
  return result.status === 0 ? result.stdout.trim() : undefined
}

/** Running programs. */
const running = new Set()

/** Registers a program, so that a failure of another step can terminate it. */
export function track(child) {
  running.add(child)
  child.once('close', () => running.delete(child))
  return child
}

/** Terminates all running programs, after a failure of another step. */
export function stopAll() {
  for (const child of running) child.kill()
}

/** Runs a program and prints its output. Rejects with SetupError if it fails. */
export function run(command, parameters, options = {}) {
  return new Promise((resolve, reject) => {
    // Standard output is for the result of the command that runs set-up.
    const child = track(spawn(command, parameters, { stdio: ['ignore', process.stderr, process.stderr], ...options }))
    child.on('error', (error) => reject(new SetupError(`${command} cannot be run: ${error.message}`)))
    child.on('close', (code, signal) => {
      if (code === 0) resolve()
      else reject(new SetupError(`${command} ${parameters.join(' ')} failed (${signal ?? `exit code ${code}`})`))
    })
  })
}

/** Prints the start of a phase, its progress if `progress` is present, and its duration. */
export async function phase(title, work, progress) {
  const started = performance.now()
  const elapsed = () => {
    const seconds = Math.round((performance.now() - started) / 1000)
    return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  }
  process.stderr.write(`== ${title}\n`)
  const show = () => process.stderr.write(`== ${title}: ${elapsed()} so far${progress ? `, ${progress}` : ''}\n`)
  const heartbeat = setInterval(show, progress ? 10_000 : 60_000)
  try {
    return await work()
  } finally {
    clearInterval(heartbeat)
    process.stderr.write(`== ${title}: ${elapsed()}\n`)
  }
}
