import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { runProgram, scratchFolder } from './node.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const { name } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { name: string }
const [example, bridgeExample] = ['embedding', 'bridge'].map((page) => {
  const [, code = ''] = /```ts\n(.*?)```/s.exec(readFileSync(join(root, `docs/${page}.md`), 'utf8')) ?? []
  return code
}) as [string, string]
/** A project that has only the package installed, without types of Node.js. */
const project = scratchFolder()

beforeAll(() => {
  const place = join(project, 'node_modules', name)
  mkdirSync(dirname(place), { recursive: true })
  symlinkSync(root, place, 'dir')
  writeFileSync(join(project, 'package.json'), '{"type":"module"}')
})

/** Returns the errors of the compiler for a program that imports the package. */
function problems(program: string): string {
  writeFileSync(join(project, 'program.ts'), program)
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const flags = ['--ignoreConfig', '--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', '--types', '']
  try {
    execFileSync(process.execPath, [tsc, ...flags, '--lib', 'es2023,dom', 'program.ts'], {
      cwd: project,
      encoding: 'utf8',
    })
    return ''
  } catch (error) {
    return (error as { stdout: string }).stdout
  }
}

test('behavior: the program of the page has the right types and runs', async () => {
  expect(problems(example)).toBe('')
  writeFileSync(join(project, 'program.mjs'), example)
  const { code, output, errors } = await runProgram([join(project, 'program.mjs')])
  expect([code, errors]).toEqual([0, ''])
  expect(output).toMatch(/^serving at http:\/\/127\.0\.0\.1:\d+\n/)
  expect(output).toContain('0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266')
  expect(output).toContain('development.accounts: is for network')
})

test('behavior: the program of the page about the Bridge has the right types and runs', async () => {
  expect(problems(bridgeExample)).toBe('')
  writeFileSync(join(project, 'bridge.mjs'), bridgeExample)
  const { code, output, errors } = await runProgram([join(project, 'bridge.mjs')])
  expect([code, errors]).toEqual([0, ''])
  expect(output).toMatch(/^registered by 0x[0-9a-f]{64}\npaid 499\d{5}\nBitcoin height 18\n$/)
})

test('error: wrong settings and inner parts are refused by the compiler', () => {
  const begin = `import { startNode, type NodeSettings, type RunningNode } from '${name}'\n`
  expect(
    problems(
      `${begin}const settings: NodeSettings = { listen: [{ port: 1 }], modules: { debug: { enabled: true } } }\nvoid startNode(settings)`,
    ),
  ).toBe('')
  for (const [program, message] of [
    ["void startNode({ network: 'ropsten' })", 'ropsten'],
    ['void startNode({ http: { prot: 1 } })', 'prot'],
    ["void startNode({ http: { port: '1' } })", "'string' is not assignable to type 'number'"],
    ["void startNode({ listen: [{ host: 'a' }] })", "'port' is missing"],
    ['export const inner = (node: RunningNode) => node.native', "'native' does not exist"],
  ] as const) {
    expect(problems(begin + program)).toContain(message)
  }
})

test('behavior: a node hands out no inner parts at run time either', async () => {
  const program = `import { startNode } from '${name}'
    const node = await startNode({ ephemeral: true, http: { port: 0, workers: 1 }, log: { level: 'silent' } })
    console.log(Object.keys(node).sort().join())
    await node.stop()`
  writeFileSync(join(project, 'keys.mjs'), program)
  const { output } = await runProgram([join(project, 'keys.mjs')])
  expect(output).toBe('adminUrl,explorerUrl,failure,metricsUrl,port,shutdown,stop,url,urls\n')
})
