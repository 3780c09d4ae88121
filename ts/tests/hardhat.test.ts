import { existsSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { HostedNode } from './conformance/hostedNode.ts'
import { Transcripts } from './conformance/transcript.ts'
import { openZeppelinFailures } from './hardhat/openZeppelinFailures.ts'
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
/** Folder that keeps its compiled contracts; undefined: compiled again, for a quarter of an hour. */
const compiled = process.env.OPENZEPPELIN_OUTPUT

/** Returns the full titles of the failures that mocha lists after its counts. */
function failures({ lines }: Ran): string[] {
  const titles: string[] = []
  let parts: string[] | undefined
  for (const line of lines.slice(lines.findIndex((one) => /^ {2}\d+ failing/.test(one)))) {
    const first = /^ {2}\d+\) (.*)$/.exec(line)
    if (first !== null) parts = []
    parts?.push((first?.[1] ?? line).trim())
    if (parts === undefined || !line.endsWith(':')) continue
    titles.push(parts.join(' > ').slice(0, -1))
    parts = undefined
  }
  return titles
}

if (checkout !== undefined) {
  test('behavior: the tests of OpenZeppelin pass with --tools, but for what Rootstock does otherwise', {
    timeout: 3_600_000,
  }, async () => {
    const node = await NodeProcess.start(['--tools'])
    const folder = checkout
    const kept = compiled === undefined ? {} : { env: { HARDHAT_OUTPUT: compiled } }
    const project = { program: `${folder}/node_modules/hardhat/internal/cli/cli.js`, folder, ...kept }
    const ran = await runHardhat(project, node.url, [
      '--config',
      `${root}/ts/tests/hardhat/openzeppelin.config.cjs`,
      'test',
    ])
    await node.stop()
    expect(
      ran.lines.some((line) => /^ {2}[1-9]\d{3} passing/.test(line)),
      ran.errors,
    ).toBe(true)
    expect(failures(ran).toSorted()).toEqual(Object.values(openZeppelinFailures).flat().toSorted())
  })
}
