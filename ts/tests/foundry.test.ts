import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { missingFoundry, runFoundry } from './clients/clients.ts'
import { keys } from './contract.ts'
import { NodeProcess, scratchFolder } from './node.ts'

// forge script, forge create, cast and forge test --fork-url, in a copy of the project `foundry`.

const reason = missingFoundry()
const title = reason === undefined ? 'Foundry' : `not run: Foundry: ${reason}`
const owner = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'

describe.skipIf(reason !== undefined)(title, { timeout: 180_000 }, () => {
  const folder = join(scratchFolder(), 'foundry')
  let node: NodeProcess
  let counter: string
  const sending = () => ['--legacy', '--private-key', keys[0], '--rpc-url', node.url]

  /** Returns the output of a program that must succeed. */
  async function run(program: string, parameters: readonly string[], env = {}): Promise<string> {
    const { code, output } = await runFoundry(folder, program, parameters, env)
    expect(code, output).toBe(0)
    return output
  }

  const cast = (command: string, ...parameters: string[]) =>
    run('cast', [command, '--rpc-url', node.url, ...parameters])

  beforeAll(async () => {
    cpSync(fileURLToPath(new URL('./foundry', import.meta.url)), folder, { recursive: true })
    node = await NodeProcess.start(['--workers', '1'])
  })
  afterAll(() => node?.stop())

  test('behavior: forge script deploys and calls', async () => {
    const output = await run('forge', ['script', 'script/Deploy.s.sol', '--slow', '--broadcast', ...sending()])
    expect(output).toContain('ONCHAIN EXECUTION COMPLETE & SUCCESSFUL')
    const file = join(folder, 'broadcast/Deploy.s.sol/33/run-latest.json')
    const { receipts } = JSON.parse(readFileSync(file, 'utf8')) as {
      receipts: { contractAddress: string; status: string }[]
    }
    expect(receipts.map(({ status }) => status)).toEqual(['0x1', '0x1'])
    counter = receipts[0]?.contractAddress ?? ''
    expect(BigInt(await node.result<string>('eth_getStorageAt', [counter, '0x0', 'latest']))).toBe(42n)
  })

  test('behavior: forge create deploys with arguments of the constructor', async () => {
    const contract = ['src/Counter.sol:Counter', '--constructor-args', '7']
    const output = await run('forge', ['create', '--broadcast', ...sending(), ...contract])
    const [, deployed = ''] = /^Deployed to: (0x\w{40})$/m.exec(output) ?? []
    expect(BigInt(await node.result<string>('eth_getStorageAt', [deployed, '0x0', 'latest']))).toBe(7n)
  })

  test('behavior: cast sends with --legacy, and reads', async () => {
    const sent = await run('cast', ['send', ...sending(), counter, 'increase(uint256)', '3', '--json'])
    const receipt = JSON.parse(sent) as { status: string; transactionHash: string; blockNumber: string }
    expect(receipt).toMatchObject({ status: '0x1', from: owner, to: counter })
    expect(await cast('call', counter, 'number()(uint256)')).toBe('45\n')
    expect(Number(await cast('estimate', counter, 'increase(uint256)', '3'))).toBeGreaterThan(21_000)
    expect(Number(await cast('block-number'))).toBe(Number(receipt.blockNumber))
    expect(await cast('chain-id')).toBe('33\n')
    expect(Number(await cast('nonce', owner))).toBeGreaterThan(2)
    expect(JSON.parse(await cast('block', 'latest', '--json'))).toMatchObject({ number: receipt.blockNumber })
    expect(JSON.parse(await cast('tx', receipt.transactionHash, '--json'))).toMatchObject({ from: owner, type: '0x0' })
    const logs = JSON.parse(await cast('logs', '--from-block', '0', '--json', 'Increased(uint256)')) as object[]
    expect(logs.at(-1)).toMatchObject({ address: counter, transactionHash: receipt.transactionHash })
  })

  test('behavior: forge test runs on a fork of the node', async () => {
    const before = await node.result('eth_blockNumber')
    const output = await run('forge', ['test', '--fork-url', node.url], { COUNTER: counter })
    expect(output).toContain('1 tests passed, 0 failed')
    expect(await node.result('eth_blockNumber')).toBe(before)
  })

  test('error: without --legacy, they name the fees that Rootstock does not have', async () => {
    const signer = ['--private-key', keys[0], '--rpc-url', node.url]
    for (const [program, ...parameters] of [
      ['cast', 'send', ...signer, counter, 'increase(uint256)', '1'],
      ['forge', 'create', '--broadcast', ...signer, 'src/Counter.sol:Counter', '--constructor-args', '7'],
    ] as const) {
      const { code, output } = await runFoundry(folder, program, parameters)
      expect([code, output]).toEqual([1, expect.stringMatching(/EIP1559/i)])
    }
  })
})
