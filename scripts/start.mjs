// npm start: sets up missing parts, then runs the node in this process.

import { SetupError } from './setup/run.mjs'
import { setup } from './setup.mjs'

try {
  await setup()
} catch (error) {
  if (!(error instanceof SetupError)) throw error
  process.stderr.write(`${error.message.replaceAll(/^/gm, 'set-up: ')}\n`)
  process.exit(1)
}
// npm starts a shell in between that does not forward SIGTERM: the end of the shell stops the node.
const parent = process.ppid
setInterval(() => process.ppid === parent || process.kill(process.pid, 'SIGTERM'), 250).unref()
process.argv.splice(2, 0, 'start')
await import('../ts/dist/cli.js')
