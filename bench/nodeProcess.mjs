// A node in a process of its own, for the benchmarks.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../ts/rhizome.mjs', import.meta.url))

/** Starts a node on a free port; `place` says where its data is. Resolves with its process and address when it serves. */
export async function startProcess(...place) {
  const flags = ['start', ...place, '--http-port', '0', '--json', '--log-level', 'error']
  const child = spawn(process.execPath, [program, ...flags], { stdio: ['ignore', 'pipe', 'inherit'] })
  const line = await new Promise((resolve) => child.stdout.once('data', (bytes) => resolve(String(bytes))))
  return { child, url: JSON.parse(line).url }
}
