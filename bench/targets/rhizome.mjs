// This node, of this checkout or of another build.
import { fileURLToPath } from 'node:url'
import { firstLine, launch, Target } from './target.mjs'

const thisProgram = fileURLToPath(new URL('../../ts/rhizome.mjs', import.meta.url))

/** Starts a node on a free port. `flags` name its data directory, `program` another build than this one. */
export async function startRhizome({
  name = 'rhizome',
  workers = 0,
  flags = ['--ephemeral'],
  env = {},
  program = thisProgram,
} = {}) {
  const began = performance.now()
  const parameters = [program, 'start', ...flags, '--workers', `${workers}`, '--http-port', '0', '--json']
  const child = launch(process.execPath, [...parameters, '--log-level', 'error'], {
    RHIZOME_RPC_MAX_BATCH_REQUESTS: '100',
    // The preparation of a chain takes long on a busy machine.
    RHIZOME_RPC_TIMEOUT_MS: '60000',
    ...env,
  })
  const { url, explorerUrl } = JSON.parse(await firstLine(child))
  const startMs = performance.now() - began
  return new Target({ name, url, webSocketUrl: url.replace('http', 'ws'), child, startMs, explorerUrl })
}
