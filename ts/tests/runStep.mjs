// Runs `node PROGRAM ...` and prints its result as one line of JSON: [NAME, { code, output, errors }].
import { spawnSync } from 'node:child_process'

const [name, ...parameters] = process.argv.slice(2)
const { status, stdout, stderr } = spawnSync(process.execPath, parameters, { encoding: 'utf8', timeout: 240_000 })
process.stdout.write(`${JSON.stringify([name, { code: status, output: stdout, errors: stderr }])}\n`)
