#!/usr/bin/env node
// The command. The program itself is built into ts/dist by `npm run setup`.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { nodeProblem } from './src/native/binaries.mjs'

const problem = nodeProblem(process.versions.node)
if (problem !== undefined) {
  process.stderr.write(`rhizome: ${problem}\n`)
  process.exit(1)
}
const program = new URL('./dist/cli.js', import.meta.url)
if (!existsSync(fileURLToPath(program))) {
  process.stderr.write('rhizome: not set up yet. Run: npm run setup\n')
  process.exit(1)
}
await import(program.href)
