// npm run lint: runs all static checks. With --sample SEED: prints comments of random files, to be read with the checklist.
import { parseArgs } from 'node:util'
import { checks } from './checks.mjs'
import { sampleText } from './prose/sample.mjs'
import { phase } from './setup/run.mjs'
import { root, setup } from './setup.mjs'

const { sample } = parseArgs({ options: { sample: { type: 'string' } } }).values
if (sample !== undefined) {
  process.stdout.write(sampleText(root, sample))
} else {
  await setup({ addon: false })
  for (const [name, check] of checks(root)) {
    try {
      await phase(name, check)
    } catch (error) {
      process.stderr.write(`${error.message}\n`)
      process.exitCode = 1
    }
  }
}
