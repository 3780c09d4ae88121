// Builds the NATS server that the tests of fleets start, from the pinned sources of ts/tests/nats, into target/nats. A server of
// the system is taken instead if it is new enough. `node scripts/setup/natsServer.mjs` or `npm test`.
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fingerprint, Stamps } from './fingerprint.mjs'
import { outputOf, phase, run, SetupError } from './run.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const sources = 'ts/tests/nats'
const place = join(root, 'target/nats')
const binary = join(place, process.platform === 'win32' ? 'nats-server.exe' : 'nats-server')
/** Time limit of the build with its downloads, because there may be no network. */
const limitMs = 600_000

/** Returns the path of the server; undefined: there is none, and tests that need one are skipped. */
export function natsServer() {
  if (existsSync(binary)) return binary
  // A message of a stream is refused by the last sequence of its subject since 2.9, created by time since 2.10.
  const version = /v(\d+)\.(\d+)\./.exec(outputOf('nats-server', ['--version']) ?? '')
  const isRecent = version !== null && (Number(version[1]) > 2 || Number(version[2]) >= 10)
  return isRecent ? 'nats-server' : undefined
}

/** Builds the server if Go is installed. */
export async function installNatsServer() {
  const stamps = new Stamps(join(place, '.stamps.json'))
  const inputs = ['go.mod', 'go.sum'].map((name) => `${sources}/${name}`)
  const value = fingerprint(root, inputs)
  if (stamps.isCurrent('nats-server', value) && existsSync(binary)) return
  try {
    mkdirSync(place, { recursive: true })
    for (const name of ['go.mod', 'go.sum']) copyFileSync(join(root, sources, name), join(place, name))
    if (outputOf('go', ['version']) === undefined) throw new SetupError('Go is not installed')
    await phase('building nats-server for its tests', () =>
      run('go', ['build', '-mod=readonly', '-trimpath', '-o', binary, 'github.com/nats-io/nats-server/v2'], {
        cwd: place,
        timeout: limitMs,
      }),
    )
    stamps.set('nats-server', value)
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    process.stderr.write(`== not installed: nats-server: ${error.message}\n`)
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await installNatsServer()
