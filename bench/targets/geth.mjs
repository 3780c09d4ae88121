// geth as a development node, built with Go from the module proxy into the cache folder.
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { outputOf, phase, run } from '../../scripts/setup/run.mjs'
import { answers, freePort, launch, scratchFolder, Target } from './target.mjs'

const version = '1.16.7'

export async function startGeth({ workers }) {
  const program = await findProgram()
  const [port, socketPort] = [await freePort(), await freePort()]
  const dataDir = scratchFolder('geth')
  const apis = 'eth,net,web3,debug,txpool'
  const began = performance.now()
  const flags = [
    ...['--dev', '--dev.period', '0', '--dev.gaslimit', '30000000', '--datadir', dataDir, '--verbosity', '1'],
    ...['--gcmode', 'archive', '--state.scheme', 'hash', '--history.logs', '0', '--ipcdisable'],
    ...['--http', '--http.addr', '127.0.0.1', '--http.port', `${port}`, '--http.api', apis],
    ...['--ws', '--ws.addr', '127.0.0.1', '--ws.port', `${socketPort}`, '--ws.api', apis],
    ...['--rpc.batch-request-limit', '100', '--rpc.txfeecap', '0', '--port', '0', '--authrpc.port', '0'],
    ...['--txpool.globalslots', '100000', '--txpool.accountslots', '64', '--txpool.globalqueue', '100000'],
  ]
  const child = launch(program, flags, { GOMAXPROCS: `${workers}` })
  const url = `http://127.0.0.1:${port}`
  await answers(url, child)
  const startMs = performance.now() - began
  return new Target({
    name: 'geth',
    url,
    webSocketUrl: `ws://127.0.0.1:${socketPort}`,
    child,
    startMs,
  })
}

async function findProgram() {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'rhizome', `geth-${version}`)
  const program = join(cache, process.platform === 'win32' ? 'geth.exe' : 'geth')
  if (existsSync(program)) return program
  if (outputOf('go', ['version']) === undefined) throw new Error('Go is not installed: it builds geth')
  const source = `github.com/ethereum/go-ethereum/cmd/geth@v${version}`
  try {
    await phase(`building geth ${version} (once)`, () =>
      run('go', ['install', source], { env: { ...process.env, GOBIN: cache } }),
    )
  } catch (error) {
    throw new Error(`geth cannot be built: ${error.message}`)
  }
  return program
}
