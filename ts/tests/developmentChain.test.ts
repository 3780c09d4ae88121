import { join } from 'node:path'
import { mnemonicToAccount, privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { NodeProcess, runCommand, scratchFolder } from './node.ts'

const words = 'test test test test test test test test test test test junk'
/** Mnemonic and first account that development tools have in common. */
const known = ['0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266', '0x70997970c51812dc3a010c7d01b50e0d17dc79c8']
const other = '0x00000000000000000000000000000000000000fe'
const usual = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'

async function inNode<T>(flags: string[], work: (node: NodeProcess) => Promise<T>): Promise<T> {
  const node = await NodeProcess.start(['--workers', '1', ...flags])
  try {
    return await work(node)
  } finally {
    await node.stop()
  }
}

test('behavior: --mnemonic, --accounts and --balance', async () => {
  await inNode(['--mnemonic', words, '--accounts', '2', '--balance', '7'], async (node) => {
    expect(await node.result('eth_accounts')).toEqual(known)
    for (const account of known) expect(await node.result('eth_getBalance', [account])).toBe('0x6124fee993bc0000')
    await node.result('eth_sendTransaction', [{ from: known[0], to: other, value: '0x1' }])
    expect(await node.result('eth_getBalance', [other])).toBe('0x1')
    // The well-known accounts keep their balances of the genesis block.
    expect(await node.result('eth_getBalance', [usual])).toBe('0xc9f2c9cd04674edea40000000')
  })
})

test('behavior: without a mnemonic --accounts counts the usual ones, and further ones of their kind', async () => {
  const few = await inNode(['--accounts', '1'], (node) => node.result<string[]>('eth_accounts'))
  expect(few).toEqual([usual])
  await inNode(['--accounts', '12'], async (node) => {
    const accounts = await node.result<string[]>('eth_accounts')
    expect(accounts.length).toBe(12)
    const plain = await inNode([], (node) => node.result<string[]>('eth_accounts'))
    expect([plain.length, plain.slice(0, 10)]).toEqual([11, accounts.slice(0, 10)])
    expect(await node.result('eth_getBalance', [accounts[11]])).toBe('0xc9f2c9cd04674edea40000000')
  })
})

test('behavior: --chain-id is what transactions are signed for', async () => {
  await inNode(['--chain-id', '77'], async (node) => {
    expect([await node.result('eth_chainId'), await node.result('net_version')]).toEqual(['0x4d', '77'])
    const account = privateKeyToAccount('0xc85ef7d79691fe79573b1a7064c19c1a9819ebdbd1faaab1a8ec92344438aaf4')
    const signed = (chainId: number) =>
      account.signTransaction({ chainId, type: 'legacy', nonce: 0, to: other, gas: 21_000n, gasPrice: 0n, value: 1n })
    const refused = await node.ask('eth_sendRawTransaction', [await signed(33)])
    expect(refused.error).toMatchObject({ code: -32602, message: expect.stringContaining('Invalid chainId: 33') })
    await node.result('eth_sendRawTransaction', [await signed(77)])
    await node.result('eth_sendTransaction', [{ from: usual, to: other, value: '0x1' }])
    expect(await node.result('eth_getBalance', [other])).toBe('0x2')
  })
})

test('behavior: --block-time mines by time', async () => {
  await inNode(['--block-time', '0.3'], async (node) => {
    const hash = await node.result('eth_sendTransaction', [{ from: usual, to: other, value: '0x1' }])
    await expect
      .poll(() => node.result('eth_getTransactionReceipt', [hash]), { timeout: 10_000 })
      .toMatchObject({ status: '0x1' })
  })
})

test('behavior: a data directory keeps its genesis block', async () => {
  const data = ['--data-dir', join(scratchFolder(), 'data')]
  const flags = ['--mnemonic', words, '--accounts', '1']
  const node = await NodeProcess.start([...data, ...flags])
  await node.result('evm_mine')
  expect(await node.stop()).toBe(0)
  const info = await runCommand(['info', '--json', ...data, ...flags])
  expect(JSON.parse(info.output)).toMatchObject({ number: 1 })
  const plain = await runCommand(['info', '--json', ...data])
  expect([plain.code, plain.errors]).toEqual([1, expect.stringContaining('belongs to another chain')])
})

test('behavior: keys of a mnemonic are those of wallets', async () => {
  const first = mnemonicToAccount('legal winner thank year wave sausage worth useful legal winner thank yellow')
  await inNode(
    ['--mnemonic', 'legal winner thank year wave sausage worth useful legal winner thank yellow'],
    async (node) => {
      const accounts = await node.result<string[]>('eth_accounts')
      expect([accounts.length, accounts[0]]).toEqual([10, first.address.toLowerCase()])
    },
  )
})

test('error: invalid settings', async () => {
  const cases: [string[], RegExp][] = [
    [['--mnemonic', 'test test test'], /development\.mnemonic: expected 12 to 24 words/],
    [
      ['--chain-id', '31337'],
      /development\.chainId: expected a whole number of at least 1 and at most 109, got 31337 \(--chain-id\)/,
    ],
    [['--accounts', '0'], /development\.accounts: expected .* got 0 \(--accounts\)/],
    [['--balance', '1.5'], /development\.balance: expected .* got "1\.5" \(--balance\)/],
    [
      ['--network', 'testnet', '--accounts', '3'],
      /development\.accounts: is for network = "regtest", not for network = "testnet"/,
    ],
    [['--block-time', '0'], /--block-time: expected seconds, as 5 or 0\.5, got "0"/],
    [['--block-time', '5', '--mining', 'off'], /--block-time: cannot be combined with --mining/],
  ]
  for (const [flags, message] of cases) {
    const { code, errors } = await runCommand(['start', '--ephemeral', '--http-port', '0', ...flags])
    expect([code, errors]).toEqual([2, expect.stringMatching(message)])
    expect(errors).not.toContain('test test')
  }
})
