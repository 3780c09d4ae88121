// Runs cargo: the environment shared by all runs, and a build that reports its progress.
import { spawn } from 'node:child_process'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { libclangEnvironment } from './libclang.mjs'
import { natsServer } from './natsServer.mjs'
import { rocksdbEnvironment } from './rocksdb.mjs'
import { SetupError, track } from './run.mjs'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/**
 * Returns the environment of all cargo runs of this project. Another environment would make cargo build crates again.
 * Compiles RocksDB if needed; `report` is called with the finished fraction.
 */
export async function cargoEnvironment(report) {
  const server = natsServer()
  // Read by the tests of crates/fleet.
  const nats = server === undefined ? {} : { RHIZOME_NATS_SERVER: server }
  const env = { ...process.env, ...nats, ...(await libclangEnvironment()) }
  return { ...env, ...(await rocksdbEnvironment(root, env, report)) }
}

/** Runs `cargo build`; `report` is called with the finished fraction. Prints the output of cargo only if it fails, and warnings. */
export function cargoBuild(parameters, env, report) {
  const program = spawn('cargo', ['build', ...parameters], {
    cwd: root,
    env: { ...env, CARGO_TERM_PROGRESS_WHEN: 'always', CARGO_TERM_PROGRESS_WIDTH: '80', CARGO_TERM_COLOR: 'never' },
    stdio: ['ignore', process.stderr, 'pipe'],
  })
  const child = track(program)
  const lines = []
  // Crates that were built before are counted before the compilation.
  let before
  let rest = ''
  child.stderr.on('data', (bytes) => {
    const whole = (rest + bytes).split(/[\r\n]+/)
    rest = whole.pop()
    for (const line of whole) {
      const [, done, total] = /^\s*Building \[.*\] (\d+)\/(\d+)/.exec(line) ?? []
      if (done !== undefined) {
        before ??= Number(done)
        report(fractionOf(Number(done) - before, Number(total) - before))
      } else if (!/^\s*(Compiling|Download|Updating|Locking|Adding|Finished|Fresh|Blocking|$)/.test(line))
        lines.push(line)
    }
  })
  return new Promise((resolve, reject) => {
    child.on('error', (error) => reject(new SetupError(`cargo cannot be run: ${error.message}`)))
    child.on('close', (code, signal) => {
      if (rest.trim() !== '') lines.push(rest)
      if (lines.length > 0) process.stderr.write(`${lines.join('\n')}\n`)
      if (code === 0) resolve()
      else reject(new SetupError(`cargo build ${parameters.join(' ')} failed (${signal ?? `exit code ${code}`})`))
    })
  })
}

/** Weight of a crate of the project: each takes as long as this many dependencies. */
const ownWeight = 60
const ownCount = 8

/** Returns the finished fraction of the work after `done` of `total` crates. */
export function fractionOf(done, total) {
  const others = Math.max(0, total - ownCount)
  const own = total - others
  return (Math.min(done, others) + ownWeight * Math.max(0, done - others)) / (others + ownWeight * own || 1)
}
