import { existsSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { HostedNode } from './conformance/hostedNode.ts'
import { Transcripts } from './conformance/transcript.ts'
import { type Ran, root, runHardhat } from './hardhatRun.ts'
import { NodeProcess } from './node.ts'

// A separate Hardhat project next to this file, with the node as a network of its configuration.

const folder = `${root}/ts/tests/hardhat/`
const program = `${folder}node_modules/hardhat/internal/cli/cli.js`
const patience = { timeout: 300_000 }

beforeAll(() => {
  if (!existsSync(program)) throw new Error('no Hardhat: node scripts/setup.mjs --with-hardhat installs it')
})

/** Runs a command of Hardhat in the project with one of its configurations. */
function run(
  url: string,
  command: readonly string[],
  env = {},
  onLine?: (line: string) => Promise<void>,
  config = 'hardhat',
) {
  const project = { program, folder, env }
  return runHardhat(project, url, ['--config', `${folder}${config}.config.cjs`, ...command], onLine)
}

test('behavior: the tests of a project pass', patience, async () => {
  const node = await NodeProcess.start()
  const { code, lines, errors } = await run(node.url, ['test'])
  await node.stop()
  expect({ code, lines, errors }).toMatchObject({ code: 0, errors: '' })
  expect(lines.some((line) => line.includes('7 passing'))).toBe(true)
})

test('behavior: a suite with fixtures, helpers and matchers passes with --tools', patience, async () => {
  const node = await NodeProcess.start(['--tools'])
  const { code, lines, errors } = await run(node.url, ['test'], {}, undefined, 'suite')
  await node.stop()
  expect({ code, lines, errors }).toMatchObject({ code: 0 })
  expect(lines.some((line) => line.includes('32 passing'))).toBe(true)
})

test('behavior: a project sees a reorganisation', patience, async () => {
  // Two branches: three blocks with two logs, and seven blocks without logs that replace them.
  const recordings = new Transcripts(`${root}/tests/vectors/rpc`)
  const replaced = recordings.blockLines('deep-reorg.replaced.blocks')
  const better = recordings.blockLines('deep-reorg.blocks').slice(1)
  const node = await HostedNode.start(root, { mining: 'off', http: { port: 0, workers: 1 }, log: { level: 'warn' } })
  const env = { WATCHED: '0x77045e71a7a2c50903d88e564cd72fab11e82051' }
  const watch = await run(node.url, ['run', '--no-compile', 'watch.mjs'], env, async (line) => {
    if (line === 'watching') for (const block of replaced) await node.importLines([block])
    if (line === 'filter 2 3') await node.importLines(better)
  })
  await node.stop()
  expect(watch).toMatchObject({ code: 0, errors: '' })
  const heads = [1, 2, 3, 1, 2, 3, 4, 5, 6, 7].map((number) => `head ${number}`)
  const seen = ['watching', ...heads, 'log 2', 'log 3', 'filter 2 3', 'filter -3 -2']
  expect(watch.lines.toSorted()).toEqual(seen.toSorted())
})

/** A checkout of OpenZeppelin's contracts with its packages, which no registry has. */
const checkout = process.env.OPENZEPPELIN
const files = [
  'access/AccessControl',
  'access/Ownable',
  'access/Ownable2Step',
  'finance/VestingWallet',
  'governance/Governor',
  'proxy/Clones',
  'token/ERC20/ERC20',
  'token/ERC721/ERC721',
  'token/ERC1155/ERC1155',
  'utils/Create2',
]

/**
 * Differences of Rootstock's EVM, also in rskj: a creation gets all gas instead of 63/64, so that a creation at a
 * taken address leaves no gas for an error; and a creation that reverts leaves no return data.
 */
const different = [
  'revert if address already used:',
  'revert if address already used:',
  'revert if address already used:',
  'fails deploying a contract in an existent address:',
  'bubbles up message:',
  'bubbles up custom error:',
  'bubbles up panic:',
]

/** Returns the last lines of the titles of the failures that mocha lists after its counts. */
function failures({ lines }: Ran): string[] {
  const listed = lines.slice(lines.findIndex((line) => /^ {2}\d+ failing/.test(line)))
  return listed.filter((line) => /^ {5,}.*:$/.test(line) && !/^ +at /.test(line)).map((line) => line.trim())
}

if (checkout !== undefined) {
  test('behavior: tests of OpenZeppelin pass with --tools, but for what the machine does otherwise', {
    timeout: 3_600_000,
  }, async () => {
    const node = await NodeProcess.start(['--tools'])
    const folder = checkout
    const project = { program: `${folder}/node_modules/hardhat/internal/cli/cli.js`, folder }
    const config = ['--config', `${root}/ts/tests/hardhat/openzeppelin.config.cjs`]
    const ran = await runHardhat(project, node.url, [...config, 'test', ...files.map((file) => `test/${file}.test.js`)])
    await node.stop()
    expect(
      ran.lines.some((line) => /^ {2}[1-9]\d* passing/.test(line)),
      ran.errors,
    ).toBe(true)
    expect(failures(ran)).toEqual(different)
  })
}
