import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { NodeProcess, program, runCommand, scratchFolder } from './node.ts'

// Whatever moment the process is killed at, the next start finds a head whose state is the state of its header.

const sender = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const receiver = '0x00000000000000000000000000000000000000fe'
const kills = 10

describe('kill -9', { timeout: 240_000 }, () => {
  test('behavior: while mining, no block and no state is lost or half written', async () => {
    const flags = ['--data-dir', join(scratchFolder(), 'data')]
    for (let round = 0; round < kills; round++) {
      const node = await NodeProcess.start(flags)
      let acknowledged = await blockNumber(node)
      const load = (async () => {
        try {
          for (;;) {
            await node.result('eth_sendTransaction', [{ from: sender, to: receiver, value: '0x1' }])
            acknowledged++
          }
        } catch {
          // The node is gone.
        }
      })()
      await pause(20 + Math.random() * 400)
      await node.stop('SIGKILL')
      await load

      const next = await NodeProcess.start(flags)
      const head = await blockNumber(next)
      // Every acknowledged block is there, and at most the one that was under way besides.
      expect(head - acknowledged).toBeGreaterThanOrEqual(0)
      expect(head - acknowledged).toBeLessThanOrEqual(1)
      await expectStateOfHead(next, head)
      expect(await next.stop()).toBe(0)
    }
  })

  test('behavior: while importing, the import goes on where it was and ends at the same state', async () => {
    const folder = scratchFolder()
    const file = join(folder, 'regtest-basic.blocks')
    const packed = fileURLToPath(new URL('../../tests/vectors/chains/regtest-basic.blocks.txt.gz', import.meta.url))
    // Enough blocks to be killed in the middle of them.
    const lines = gunzipSync(readFileSync(packed)).toString().split('\n').slice(0, 204)
    writeFileSync(file, `${lines.join('\n')}\n`)
    const [lastNumber, lastHash] = (lines.at(-1) ?? '').split(',')

    let data = join(folder, 'data-0')
    for (let round = 0; round < kills; round++) {
      const child = spawn(process.execPath, [program, 'import', file, '--data-dir', data, '--json'])
      const ended = new Promise((resolve) => child.on('close', resolve))
      // The clock runs from the first imported block on: what comes before is only the start of the process.
      await Promise.race([new Promise((resolve) => child.stdout.once('data', resolve)), ended])
      await pause(Math.random() * 150)
      child.kill('SIGKILL')
      await ended

      const info = await runCommand(['info', '--json', '--data-dir', data])
      expect([info.code, info.errors]).toEqual([0, ''])
      const { number } = JSON.parse(info.output) as { number: number }
      const node = await NodeProcess.start(['--data-dir', data, '--mining', 'off'])
      await expectStateOfHead(node, number)
      await node.stop()
      if (number === Number(lastNumber)) data = join(folder, `data-${round + 1}`)
    }
    const rest = await runCommand(['import', file, '--data-dir', data])
    expect([rest.code, rest.errors]).toEqual([0, ''])
    const info = await runCommand(['info', '--json', '--data-dir', data])
    expect(JSON.parse(info.output)).toMatchObject({ number: Number(lastNumber), hash: `0x${lastHash}` })
  })
})

/** The head's flat state against its trie: the same accounts are read again while a further block makes the head an old one. */
async function expectStateOfHead(node: NodeProcess, head: number): Promise<void> {
  const accounts = [...(await node.result<string[]>('eth_accounts')), receiver, `0x${'0'.repeat(32)}01000008`]
  const block = `0x${head.toString(16)}`
  const read = async (selector: string) => {
    const balances = accounts.map((account) => node.result<string>('eth_getBalance', [account, selector]))
    const nonces = accounts.map((account) => node.result<string>('eth_getTransactionCount', [account, selector]))
    return Promise.all([...balances, ...nonces])
  }
  const flat = await read('latest')
  const snapshot = await node.result('evm_snapshot')
  await node.result('evm_mine')
  expect(await blockNumber(node)).toBe(head + 1)
  expect(await read(block)).toEqual(flat)
  expect(await node.result('evm_revert', [snapshot])).toBe(true)
  expect(await blockNumber(node)).toBe(head)
}

async function blockNumber(node: NodeProcess): Promise<number> {
  return Number(await node.result<string>('eth_blockNumber'))
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
