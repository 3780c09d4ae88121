import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { GoldenChain } from './goldenChain.ts'
import { configFile, NodeProcess, runCommand, scratchFolder } from './node.ts'

const folder = scratchFolder()
const account = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const minute = 60_000

afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('behavior: prune deletes old states, and errors name the oldest kept one', { timeout: 3 * minute }, async () => {
  const chain = new GoldenChain(folder)
  const settings = 'storage.proofs = "4"\nstorage.history = "50"\n'
  const data = ['--chain', chain.specification, '--data-dir', join(folder, 'data')]
  const flags = [...data, '--config', configFile(settings)]
  expect(await runCommand(['import', chain.file(200), ...flags])).toMatchObject({ code: 0, errors: '' })
  // A command that reads gives up no states, even if its settings ask for fewer.
  const fewer = ['--config', configFile('storage.proofs = "4"\nstorage.history = "10"\n')]
  const oldestState = async (): Promise<number> =>
    (JSON.parse((await runCommand(['info', '--json', ...flags])).output) as { oldestState: number }).oldestState
  const imported = await oldestState()
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  const exporting = runCommand(['export', pipe, '--from', '1', '--to', '200', ...data, ...fewer])
  // A node looks once a second for states to give up.
  await new Promise((resolve) => setTimeout(resolve, 2500))
  const exported = await readFile(pipe, 'utf8')
  expect([(await exporting).code, exported.trim().split('\n').length]).toEqual([0, 200])
  expect(await oldestState()).toBe(imported)
  const pruned = await runCommand(['prune', '--json', ...flags])
  expect([pruned.code, pruned.errors]).toEqual([0, ''])
  expect(JSON.parse(pruned.output)).toMatchObject({ oldestState: 150, partial: false })
  const info = JSON.parse((await runCommand(['info', '--json', ...flags])).output)
  expect(info).toMatchObject({
    number: 200,
    proofs: 4,
    history: '50',
    keptStates: 50,
    oldestState: 150,
    oldestBlock: 1,
  })
  const sizes = Object.values(info.diskBytesByKind as Record<string, number>)
  expect(sizes.reduce((sum, bytes) => sum + bytes)).toBe(info.diskBytes)
  const verified = await runCommand(['verify', '--from', '151', '--to', '200', '--state', ...flags])
  expect([verified.code, verified.errors]).toEqual([0, ''])

  const node = await NodeProcess.start(data, settings)
  const call = { to: account, data: '0x' }
  const notKept = 'state of block 100 is not kept (history = 50); the oldest kept state is that of block 150'
  for (const [method, params] of [
    ['eth_getBalance', [account, '0x64']],
    ['eth_getTransactionCount', [account, '0x64']],
    ['eth_call', [call, '0x64']],
  ] as const) {
    expect((await node.ask(method, [...params])).error).toMatchObject({ code: -32000, message: notKept })
  }
  expect(await node.result('eth_getBalance', [account, '0x96'])).toMatch(/^0x/)
  expect(await node.result('eth_getBlockByNumber', ['0x64', true])).toMatchObject({ number: '0x64' })
  const proof = await node.ask('eth_getProof', [account, [], '0xbe'])
  const noTrie = 'the state trie of block 190 is not kept (proofs = 4); the oldest kept one is that of block 196'
  expect(proof.error).toMatchObject({ code: -32000, message: noTrie })
  expect(await node.result('eth_getProof', [account, [], '0xc4'])).toMatchObject({ accountProof: expect.anything() })
  expect(await node.stop()).toBe(0)
})
