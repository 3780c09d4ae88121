import { cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { root, runHardhat } from './hardhatRun.ts'
import { NodeProcess, scratchFolder } from './node.ts'

// The sample projects of Hardhat 3, as `hardhat --init` creates them, except for the network.

const packages = `${root}/ts/tests/hardhat3/node_modules`
/** The compiler of the other tests, because Hardhat would otherwise download one. */
const compiler = createRequire(import.meta.url).resolve('solc/soljson.js')
const { version } = createRequire(import.meta.url)('solc/package.json') as { version: string }

/** A Node.js of at least 22.13, which Hardhat 3 needs: this one, or that of a package. */
function newNode(): string {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > 22 || (major === 22 && minor >= 13)) return process.execPath
  const program = `${packages}/node-${process.platform}-${process.arch}/bin/node`
  if (!existsSync(program)) throw new Error(`no Node.js 22 for Hardhat 3: ${program}`)
  return program
}

/** Creates a folder with a sample whose network is the node at `RPC_URL`. */
function sampleProject(template: string, toolbox: string): string {
  const folder = scratchFolder()
  const sample = `${packages}/hardhat/templates/${template}`
  mkdirSync(`${folder}/contracts`)
  // Its tests in Solidity need a package that is not available and use no node.
  cpSync(`${sample}/contracts/Counter.sol`, `${folder}/contracts/Counter.sol`)
  for (const name of ['test', 'tsconfig.json']) cpSync(`${sample}/${name}`, `${folder}/${name}`, { recursive: true })
  symlinkSync(packages, `${folder}/node_modules`)
  writeFileSync(`${folder}/package.json`, '{ "type": "module", "private": true }\n')
  writeFileSync(
    `${folder}/hardhat.config.ts`,
    `import toolbox from '@nomicfoundation/${toolbox}'
import { defineConfig } from 'hardhat/config'

export default defineConfig({
  plugins: [toolbox],
  solidity: { version: '${version}', path: '${compiler}', settings: { evmVersion: 'cancun' } },
  networks: { rhizome: { type: 'http', url: process.env.RPC_URL! } },
})
`,
  )
  return folder
}

test.each([
  ['02-mocha-ethers', 'hardhat-toolbox-mocha-ethers', ['mocha'], /^\s*2 passing/],
  ['01-node-test-runner-viem', 'hardhat-toolbox-viem', ['nodejs'], /^\s*2 passing/],
])('behavior: the sample %s passes with --tools', { timeout: 300_000 }, async (template, toolbox, runner, passed) => {
  if (!existsSync(packages)) throw new Error('no Hardhat 3: node scripts/setup.mjs --with-hardhat installs it')
  const node = await NodeProcess.start(['--tools'])
  const project = {
    program: `${packages}/hardhat/dist/src/cli.js`,
    folder: sampleProject(template, toolbox),
    node: newNode(),
  }
  const { code, lines, errors } = await runHardhat(project, node.url, ['test', ...runner, '--network', 'rhizome'])
  await node.stop()
  expect({ code, lines, errors }).toMatchObject({ code: 0 })
  expect(lines.some((line) => passed.test(line))).toBe(true)
})
