// This node.
import { fileURLToPath } from 'node:url'
import { firstLine, launch, Target } from './target.mjs'

const program = fileURLToPath(new URL('../../ts/rhizome.mjs', import.meta.url))

/** Starts a node on a free port; `flags` say where its data is. */
export async function startRhizome({ name = 'rhizome', workers = 0, flags = ['--ephemeral'], env = {} } = {}) {
  const began = performance.now()
  const parameters = [program, 'start', ...flags, '--workers', `${workers}`, '--http-port', '0', '--json']
  const child = launch(process.execPath, [...parameters, '--log-level', 'error'], {
    RHIZOME_RPC_MAX_BATCH_REQUESTS: '100',
    // On a busy machine the preparation of a chain may take long.
    RHIZOME_RPC_TIMEOUT_MS: '60000',
    ...env,
  })
  const { url } = JSON.parse(await firstLine(child))
  const startMs = performance.now() - began
  return new Target({ name, url, webSocketUrl: url.replace('http', 'ws'), child, startMs })
}
