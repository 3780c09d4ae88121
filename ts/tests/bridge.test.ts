import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DevelopmentBridge } from '../src/bridge/developmentBridge.ts'
import { NodeProcess, runCommand } from './node.ts'

// The peg of a development node from end to end. With BRIDGE_NODE=URL on another node instead, e.g. the reference.

const receiver = '0x00000000000000000000000000000000000000aa'
const weiPerSatoshi = 10n ** 10n
let node: NodeProcess | undefined
let url = process.env.BRIDGE_NODE ?? ''

beforeAll(async () => {
  if (url !== '') return
  node = await NodeProcess.start()
  url = node.url
})
afterAll(() => node?.stop())

async function command(...parameters: readonly string[]) {
  const { code, output, errors } = await runCommand(['bridge', ...parameters, '--url', url, '--json'])
  return { code, errors, result: output === '' ? undefined : JSON.parse(output) }
}

async function ask<Result>(method: string, params: readonly unknown[]): Promise<Result> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return ((await response.json()) as { result: Result }).result
}

async function balance(): Promise<bigint> {
  return BigInt(await ask<string>('eth_getBalance', [receiver, 'latest']))
}

describe('commands', { timeout: 120_000 }, () => {
  test('behavior: Bitcoin blocks extend the chain of the Bridge', async () => {
    const { result: before } = await command('state')
    expect(before.federationAddress).toBe('2N5muMepJizJE1gR7FbHJU6CD18V3BpNF9p')
    const { code, errors, result } = await command('mine', '3')
    expect([code, errors, result.height]).toEqual([0, '', before.bitcoinHeight + 3])
    expect((await command('state')).result.bitcoinHeight).toBe(result.height)
  })

  test('behavior: a peg-in credits its receiver', async () => {
    const before = await balance()
    const { code, errors, result } = await command('peg-in', receiver, '--btc', '2.5')
    expect([code, errors, result.satoshis]).toEqual([0, '', '250000000'])
    expect((await balance()) - before).toBe(250_000_000n * weiPerSatoshi)
  })

  test('behavior: traces show the payment of a peg-in', async () => {
    expect((await command('peg-in', receiver, '--btc', '1')).code).toBe(0)
    const { number } = await ask<{ number: string }>('eth_getBlockByNumber', ['latest', false])
    const filter = { fromBlock: '0x1', toBlock: number, toAddress: ['0x0000000000000000000000000000000001000006'] }
    const traces = await ask<{ action: { from: string; to: string; value: string } }[]>('trace_filter', [filter])
    const payments = traces.filter(({ action }) => action.to === receiver)
    expect(payments.at(-1)?.action).toMatchObject({
      from: '0x0000000000000000000000000000000001000006',
      value: `0x${(100_000_000n * weiPerSatoshi).toString(16)}`,
    })
  })

  test('behavior: a flyover peg-in credits its receiver through the provider', async () => {
    const before = await balance()
    const { code, errors, result } = await command('flyover', receiver)
    expect([code, errors, result.satoshis]).toEqual([0, '', '10000000'])
    expect((await balance()) - before).toBe(10_000_000n * weiPerSatoshi)
  })

  test('behavior: peg-outs are requested, confirmed, signed and paid', async () => {
    const requests = [await command('peg-out', '--btc', '0.5'), await command('peg-out', '--btc', '0.01')]
    expect(requests.map(({ code, errors }) => `${code}${errors}`)).toEqual(['0', '0'])
    const address = requests[0]?.result.bitcoinAddress
    expect((await command('state')).result.queuedPegOuts).toBe(2)
    const { result: confirmed } = await command('confirm')
    expect(confirmed).toHaveLength(1)
    expect((await command('state')).result.waitingForSignatures).toHaveLength(1)
    const { errors, result: released } = await command('sign')
    expect([errors, released.length]).toEqual(['', 1])
    const outputs = released[0].outputs as { address: string; satoshis: string }[]
    expect(outputs.map((output) => output.address)).toEqual([address, address, '2N5muMepJizJE1gR7FbHJU6CD18V3BpNF9p'])
    expect(Number(outputs[0]?.satoshis)).toBeGreaterThan(49_000_000)
    const { result: after } = await command('state')
    expect([after.queuedPegOuts, after.waitingForConfirmations, after.waitingForSignatures]).toEqual([0, [], []])
    expect(await command('confirm')).toEqual({ code: 0, errors: '', result: [] })
    expect(await command('sign')).toEqual({ code: 0, errors: '', result: [] })
  })

  test('error: another network, and no node', async () => {
    const testnet = await NodeProcess.start(['--network', 'testnet'])
    const { code, errors } = await runCommand(['bridge', 'mine', '--url', testnet.url])
    expect([code, errors]).toEqual([1, expect.stringContaining('is the node on regtest?')])
    await testnet.stop()
    expect(await runCommand(['bridge', 'state', '--url', 'http://127.0.0.1:1'])).toMatchObject({
      code: 1,
      errors: 'rhizome: no node answers at http://127.0.0.1:1\n',
    })
  })

  test('error: requests that the Bridge rejects, and wrong arguments', async () => {
    expect(await command('peg-out', '--btc', '0.0001')).toMatchObject({
      code: 1,
      errors: 'rhizome: the Bridge rejected the request: reason 1\n',
    })
    expect(await command('peg-in', receiver, '--btc', '0.001')).toMatchObject({
      code: 1,
      errors: 'rhizome: the Bridge did not register the peg-in\n',
    })
    expect(await command('flyover', receiver, '--btc', '0.001')).toMatchObject({
      code: 1,
      errors: 'rhizome: the Bridge rejected the flyover peg-in: code -305\n',
    })
    for (const wrong of [
      ['mine', 'x'],
      ['peg-in', '0x12'],
      ['peg-out', '--btc', '1e3'],
      ['peg-out', '--from', 'cow'],
    ]) {
      expect((await command(...wrong)).code).toBe(2)
    }
  })
})

test('behavior: peg-outs are signed after two batches', { timeout: 120_000 }, async () => {
  const bridge = new DevelopmentBridge(url)
  await bridge.pegIn(receiver, 100_000_000n)
  for (const satoshis of [30_000_000n, 20_000_000n]) {
    await bridge.pegOut(undefined, satoshis)
    expect(await bridge.confirmPegOuts()).toHaveLength(1)
  }
  const released = await bridge.signPegOuts()
  expect(released).toHaveLength(2)
  expect(new Set(released.map(({ bitcoinHeight }) => bitcoinHeight)).size).toBe(1)
})
