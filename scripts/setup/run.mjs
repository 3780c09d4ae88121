// Runs programs and prints their progress.
import { spawn, spawnSync } from 'node:child_process'

/** Something that a person has to put right. Printed without a stack. */
export class SetupError extends Error {}

/** Output of a program, or undefined when it cannot be run or fails. */
export function outputOf(command, parameters, options = {}) {
  const result = spawnSync(command, parameters, { encoding: 'utf8', ...options })
  return result.status === 0 ? result.stdout.trim() : undefined
}

/** Programs that run. */
const running = new Set()

/** Remembers a program, so that a failure elsewhere can end it. */
export function track(child) {
  running.add(child)
  child.once('close', () => running.delete(child))
  return child
}

/** Terminates all running programs, after a failure of another step. */
export function stopAll() {
  for (const child of running) child.kill()
}

/** Runs a program with its output shown. Rejects with SetupError when it fails. */
export function run(command, parameters, options = {}) {
  return new Promise((resolve, reject) => {
    // The standard output belongs to the answer of the command that needs this.
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
