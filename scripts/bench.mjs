// npm run bench -- [--json FILE] [--only NAME]...: runs the benchmarks and prints what they measured.
import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { setup } from './setup.mjs'

const benchmarks = {
  life: '../bench/life/life.mjs',
  boundary: '../bench/boundary/boundary.mjs',
  http: '../bench/http/throughput.mjs',
  webSocket: '../bench/webSocket/webSocket.mjs',
  import: '../bench/import/import.mjs',
}

let options
try {
  options = parseArgs({
    options: {
      json: { type: 'string' },
      only: { type: 'string', multiple: true },
      help: { type: 'boolean', short: 'h' },
    },
  }).values
  for (const name of options.only ?? []) if (!(name in benchmarks)) throw new TypeError(`no benchmark ${name}`)
} catch (error) {
  process.stderr.write(`bench: ${error.message}\n`)
  process.exit(2)
}
if (options.help) {
  process.stdout.write(
    `npm run bench -- [--json FILE] [--only NAME]...\nnames: ${Object.keys(benchmarks).join(', ')}\n`,
  )
  process.exit(0)
}

await setup()
const results = []
for (const [name, path] of Object.entries(benchmarks)) {
  if (options.only !== undefined && !options.only.includes(name)) continue
  const { run } = await import(path)
  process.stdout.write(`${name}\n`)
  await run((result) => {
    results.push({ benchmark: name, ...result })
    process.stdout.write(
      `  ${result.name.padEnd(44)} ${Math.round(result.value).toLocaleString('en').padStart(12)} ${result.unit}\n`,
    )
  })
}
if (options.json !== undefined) {
  const machine = { node: process.version, cpus: cpus().length, model: cpus()[0]?.model, at: new Date().toISOString() }
  writeFileSync(options.json, `${JSON.stringify({ machine, results }, undefined, 2)}\n`)
}
