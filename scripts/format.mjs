// npm run format: formats TypeScript, JavaScript, JSON and Rust in place.

import { run } from './setup/run.mjs'
import { root, setup } from './setup.mjs'

await setup({ addon: false })
await run(process.execPath, ['node_modules/@biomejs/biome/bin/biome', 'check', '--write', '.'], { cwd: root })
await run('cargo', ['fmt', '--all'], { cwd: root })
await run('cargo', ['fmt', '--manifest-path', 'bench/load/Cargo.toml'], { cwd: root })
