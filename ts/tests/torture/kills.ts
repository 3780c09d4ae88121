import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect } from 'vitest'
import { GoldenChain } from '../goldenChain.ts'
import { NodeProcess, program } from '../node.ts'
import type { Round, TortureCase } from '../tortureCase.ts'

// kill -9 at any time, while mining and while importing: no acknowledged block is lost, the next start finds a head with the
// state of its header, and an import continues to the same end.

const sender = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const receiver = '0x00000000000000000000000000000000000000fe'
/** Blocks of the golden chain, few for a short round; sometimes all, so that old files are compacted, too. */
const partBlocks = 400

export const torture: TortureCase = {
  prepare: (folder) => {
    const chain = new GoldenChain(folder)
    return { round: (round) => (round.random.below(2) === 0 ? mining(round) : importing(round, chain)) }
  },
}

async function mining({ random, folder }: Round): Promise<void> {
  const flags = ['--data-dir', join(folder, 'data')]
  for (let kills = 1 + random.below(4); kills > 0; kills--) {
    const node = await NodeProcess.start(flags)
    let acknowledged = await blockNumber(node)
    const load = (async () => {
      try {
        for (;;) {
          await node.result('eth_sendTransaction', [{ from: sender, to: receiver, value: '0x1' }])
          acknowledged++
        }
      } catch {
        // The node has been killed.
      }
    })()
    await pause(20 + random.below(400))
    await node.stop('SIGKILL')
    await load

    const next = await NodeProcess.start(flags)
    const head = await blockNumber(next)
    // At most the unfinished block follows the acknowledged blocks.
    expect(head - acknowledged).toBeGreaterThanOrEqual(0)
    expect(head - acknowledged).toBeLessThanOrEqual(1)
    await expectStateOfHead(next, head)
    expect(await next.stop()).toBe(0)
  }
}

async function importing({ random, folder }: Round, chain: GoldenChain): Promise<void> {
  const data = join(folder, 'data')
  const blocks = random.below(5) === 0 ? undefined : partBlocks
  for (let kills = 1 + random.below(4); kills > 0; kills--) {
    const acknowledged = await killedImport(chain, blocks, data, random.below(2500))
    expect(await chain.expectConsistent(data)).toBeGreaterThanOrEqual(acknowledged)
  }
  await chain.expectImport(data, blocks)
}

/** Imports and kills the process some time after its first new block. Returns the last reported block. */
async function killedImport(chain: GoldenChain, blocks: number | undefined, data: string, ms: number): Promise<number> {
  const flags = ['--chain', chain.specification, '--data-dir', data, '--json']
  const child = spawn(process.execPath, [program, 'import', chain.file(blocks), ...flags])
  const ended = new Promise((resolve) => child.on('close', resolve))
  let text = ''
  let acknowledged = 0
  const first = new Promise((resolve) => {
    child.stdout.on('data', (bytes) => {
      const lines = `${text}${bytes}`.split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) {
        const { number, result } = JSON.parse(line) as { number: number; result: string }
        acknowledged = number
        if (result !== 'EXIST') resolve(undefined)
      }
    })
  })
  await Promise.race([first, ended])
  await Promise.race([pause(ms), ended])
  child.kill('SIGKILL')
  await ended
  return acknowledged
}

/** Compares the flat state of the head with its trie: reads the same accounts again after a further block made the head an old block. */
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
