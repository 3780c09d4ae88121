// npm start: sets up what is missing, then runs the node in this very process.

import { SetupError } from './setup/run.mjs'
import { setup } from './setup.mjs'

try {
  await setup()
} catch (error) {
  if (!(error instanceof SetupError)) throw error
  process.stderr.write(`${error.message.replaceAll(/^/gm, 'set-up: ')}\n`)
  process.exit(1)
}
process.argv.splice(2, 0, 'start')
await import('../ts/dist/cli.js')
