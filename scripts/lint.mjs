// npm run lint: all checks of form.
import { checks } from './checks.mjs'
import { phase } from './setup/run.mjs'
import { root, setup } from './setup.mjs'

await setup({ addon: false })
for (const [name, check] of checks(root)) {
  try {
    await phase(name, check)
  } catch (error) {
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 1
  }
}
