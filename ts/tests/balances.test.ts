import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { compile } from '../../docs/examples/compile.mjs'
import { describeWithNats, NatsProcess } from './natsServer.ts'
import { NodeProcess, scratchFolder } from './node.ts'
import { describeWithPostgres, PostgresProcess } from './postgres.ts'

// Starts several nodes and servers, which is slow on a busy machine.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 })

const example = new URL('../../docs/examples/balances/', import.meta.url)
const { bytecode } = compile('Token', example.href)
const word = (value: bigint | string) => BigInt(value).toString(16).padStart(64, '0')

/** The example as a process. */
class Consumer {
  readonly #child: ChildProcess
  #output = ''

  constructor(url: string, token: string, database: string) {
    const script = fileURLToPath(new URL('balances.mjs', example))
    this.#child = spawn(process.execPath, [script, url, token, database], { stdio: ['ignore', 'ignore', 'pipe'] })
    this.#child.stderr?.on('data', (bytes) => {
      this.#output += bytes
    })
  }

  /** Returns its error output. */
  get output(): string {
    return this.#output
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null) return
    this.#child.kill('SIGKILL')
    await once(this.#child, 'close')
  }
}

describeWithPostgres('balances of a token in PostgreSQL', () => {
  test('behavior: are computed again when a development network goes back', async () => {
    const database = await PostgresProcess.start()
    const node = await NodeProcess.start(['--workers', '1'])
    const [owner = '', other = ''] = await node.result<string[]>('eth_accounts')
    const send = (transaction: object) =>
      node.result<string>('eth_sendTransaction', [{ from: owner, gas: '0x100000', ...transaction }])
    const creation = await send({ data: `${bytecode}${word(1000n)}` })
    const receipt = await node.result<{ contractAddress: string }>('eth_getTransactionReceipt', [creation])
    const token = receipt.contractAddress
    const transfer = (amount: bigint) => send({ to: token, data: `0xa9059cbb${word(other)}${word(amount)}` })
    const consumer = new Consumer(node.url, token, database.url)
    const query = `SELECT balance FROM token_balances WHERE token = '${token}' AND account = '${other}'`
    const has = (balance: string) =>
      expect
        .poll(() => database.query<{ balance: string }>(query).catch(() => []), { timeout: 30_000 })
        .toEqual([{ balance }])
    await transfer(5n)
    const snapshot = await node.result('evm_snapshot')
    await transfer(70n)
    await has('75')
    await node.result('evm_revert', [snapshot])
    await has('5')
    await transfer(300n)
    await has('305')
    expect(consumer.output).toBe('')
    await consumer.kill()
    await node.stop()
    await database.kill()
  })

  describeWithNats('over a fleet', () => {
    let database: PostgresProcess
    let nats: NatsProcess
    let miners: NodeProcess[] = []
    let replica: NodeProcess
    beforeAll(async () => {
      database = await PostgresProcess.start()
      nats = await NatsProcess.start()
      const start = (role: string) =>
        NodeProcess.start([
          ...['--workers', '1', '--fleet', role, '--fleet-url', nats.url],
          ...['--data-dir', join(scratchFolder(), 'data')],
        ])
      miners = await Promise.all([start('importer'), start('importer')])
      replica = await start('replica')
    })
    afterAll(async () => {
      await Promise.all([...miners, replica].map((node) => node?.stop('SIGKILL')))
      await nats?.kill()
      await database?.kill()
    })

    const send = (node: NodeProcess, transaction: object) =>
      node.result<string>('eth_sendTransaction', [{ gas: '0x100000', gasPrice: '0x1', ...transaction }])
    const headOf = (node: NodeProcess) =>
      node.result<{ number: string; hash: string }>('eth_getBlockByNumber', ['latest', false])

    const isMined = async (node: NodeProcess, hash: string) => {
      while ((await node.result<object | null>('eth_getTransactionReceipt', [hash])) === null)
        await new Promise((resolve) => setTimeout(resolve, 20))
    }

    test('behavior: are those of the contract, through reorganizations and kills', async () => {
      const [first, second] = miners as [NodeProcess, NodeProcess]
      const accounts = (await first.result<string[]>('eth_accounts')).slice(0, 6)
      const [owner = ''] = accounts
      // Each importer mines all transactions on its own branch, and the replica changes to the longer one.
      await second.result('evm_increaseTime', [30])
      const creation = await send(first, { from: owner, data: `${bytecode}${word(1_000_000n)}` })
      const receipt = await first.result<{ contractAddress: string }>('eth_getTransactionReceipt', [creation])
      const token = receipt.contractAddress

      let consumer = new Consumer(replica.url, token, database.url)
      const follows = async (hash: string) => {
        for (;;) {
          const query = `SELECT cursor FROM token_places WHERE token = '${token}'`
          const [place] = await database.query<{ cursor: string }>(query).catch(() => [])
          if (place?.cursor.includes(hash)) return
          expect(consumer.output).toBe('')
          await new Promise((resolve) => setTimeout(resolve, 50))
        }
      }
      let amount = 1n
      for (let round = 0; round < 6; round++) {
        const [miner, other] = round % 2 === 0 ? [first, second] : [second, first]
        for (let count = 0; count < 3; count++) {
          amount += 5n
          const to = accounts[Number(amount) % accounts.length]
          const data = `0xa9059cbb${word(to ?? '')}${word(amount)}`
          const hash = await send(first, { from: owner, to: token, data })
          await Promise.all([first, second].map((node) => isMined(node, hash)))
        }
        const height = Number((await headOf(other)).number) + 2
        while (Number((await headOf(miner)).number) < height) await miner.result('evm_mine')
        // The balances of one branch are there before the other one wins.
        if (round % 2 === 0) await follows((await headOf(miner)).hash)
        else {
          await consumer.kill()
          consumer = new Consumer(replica.url, token, database.url)
        }
      }
      const { hash } = await headOf(second)
      await follows(hash)
      expect((await headOf(replica)).hash).toBe(hash)
      const rows = await database.query<{ account: string; balance: string }>(
        `SELECT account, balance FROM token_balances WHERE token = '${token}'`,
      )
      const balances = new Map(rows.map(({ account, balance }) => [account, BigInt(balance)]))
      for (const account of accounts) {
        const call = { to: token, data: `0x70a08231${word(account)}` }
        const balance = await replica.result<string>('eth_call', [call, 'latest'])
        expect([account, balances.get(account)]).toEqual([account, BigInt(balance)])
      }
      expect([...balances.values()].reduce((sum, balance) => sum + balance)).toBe(0n)
      expect(balances.get(`0x${'0'.repeat(40)}`)).toBe(-1_000_000n)
      await consumer.kill()
    })
  })
})
