import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { JsonRpcProvider, verifyMessage, verifyTypedData, Wallet } from 'ethers'
import { createWalletClient, http, recoverMessageAddress, recoverTypedDataAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Web3 } from 'web3'
import { keys } from './contract.ts'
import { NodeProcess } from './node.ts'

const key = '0x822d70c45f9ff5ae7bba210b7dd6b6bbb6f8dc6e898bb11354adab037a6e25e1'
const address = '0xc60491be5856e93acd804cb5a62f09f8a02d8df2'
const cow = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const secretWord = 'correct horse battery staple'

const typedData = {
  types: {
    EIP712Domain: [
      { name: 'name', type: 'string' },
      { name: 'chainId', type: 'uint256' },
    ],
    Person: [
      { name: 'name', type: 'string' },
      { name: 'wallets', type: 'address[]' },
    ],
    Mail: [
      { name: 'from', type: 'Person' },
      { name: 'contents', type: 'string' },
    ],
    Unused: [{ name: 'nothing', type: 'bytes32' }],
  },
  primaryType: 'Mail',
  domain: { name: 'Post', chainId: 33n },
  message: { from: { name: 'Cow', wallets: [cow] }, contents: 'Hello' },
} as const

/** Structured data as sent in requests, with numbers as JSON numbers. */
const wireData = { ...typedData, domain: { ...typedData.domain, chainId: 33 } }

/** Encrypting a key is slow, on a busy machine slower than the time limit of a request. */
const patient = '[rpc]\ntimeoutMs = 60000\n'
const patienceMs = 180_000

describe('accounts on disk', { timeout: patienceMs }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'rhizome-accounts-'))
  const keyFolder = join(folder, 'keystore')
  let node: NodeProcess
  const start = async () => {
    node = await NodeProcess.start(['--data-dir', folder, '--log-level', 'debug'], patient)
  }
  beforeAll(start)
  afterAll(() => node?.stop())

  test('behavior: keys are files that other tools read, and survive a restart', async () => {
    expect(await node.result('personal_importRawKey', [key, secretWord])).toBe(address)
    const made = await node.result<string>('personal_newAccount', [''])
    const files = readdirSync(keyFolder)
    expect(files.sort()).toEqual([`${address.slice(2)}.json`, `${made.slice(2)}.json`].sort())
    const file = join(keyFolder, `${address.slice(2)}.json`)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const text = readFileSync(file, 'utf8')
    expect(text).not.toContain(key.slice(2))
    expect((await Wallet.fromEncryptedJson(text, secretWord)).privateKey).toBe(key)
    // Idle connections were closed meanwhile; the client has to notice that first.
    await new Promise((resolve) => setTimeout(resolve, 200))
    const theirs = JSON.parse(text) as { version: number; crypto?: object; Crypto?: object }
    expect(theirs.version).toBe(3)

    expect(await node.result('personal_dumpRawKey', [address])).toBe(key)
    await node.stop()
    await start()
    expect(await node.result('eth_accounts')).toEqual(expect.arrayContaining([cow, address, made]))
    expect((await node.ask('personal_dumpRawKey', [address])).error).toMatchObject({
      code: -32000,
      message: 'account is locked',
    })
    expect((await node.ask('eth_sign', [address, '0x00'])).error?.code).toBe(-32602)
    const wrong = await node.ask('personal_unlockAccount', [address, 'wrong', null])
    expect(wrong.error).toMatchObject({ code: -32000, message: 'could not decrypt key with given password' })
    expect(await node.result('personal_unlockAccount', [address, secretWord, '0x36ee80'])).toBe(true)
    expect(await node.result('personal_dumpRawKey', [address])).toBe(key)
    expect(await node.result('personal_lockAccount', [address])).toBe(true)
  })

  test('behavior: a file of another tool is an account of this node', async () => {
    const wallet = Wallet.createRandom()
    await node.stop()
    writeFileSync(join(keyFolder, 'UTC--2024--imported'), await new Wallet(wallet.privateKey).encrypt('pw'))
    await start()
    expect(await node.result('personal_unlockAccount', [wallet.address, 'pw', ''])).toBe(true)
    expect(await node.result('personal_dumpRawKey', [wallet.address])).toBe(wallet.privateKey)
  })

  test('behavior: a stored account sends while it is locked', async () => {
    await node.result('eth_sendTransaction', [{ from: cow, to: address, value: '0xde0b6b3a7640000' }])
    const transaction = { from: address, to: cow, value: '0x1', gas: '0x5208' }
    const hash = await node.result<string>('personal_sendTransaction', [transaction, secretWord])
    expect(await node.result('eth_getTransactionReceipt', [hash])).toBeNull()
    await node.result('evm_mine')
    expect(await node.result('eth_getTransactionReceipt', [hash])).toMatchObject({ status: '0x1', from: address })
  })

  test('behavior: neither keys nor passphrases are in the log', () => {
    expect(node.errors).not.toContain(secretWord)
    expect(node.errors).not.toContain(key.slice(2))
    expect(node.errors).not.toContain('internal error')
  })
})

describe('signing', { timeout: patienceMs }, () => {
  let node: NodeProcess
  beforeAll(async () => {
    node = await NodeProcess.start([], patient)
  })
  afterAll(() => node?.stop())

  test('behavior: ethers, viem and web3 sign messages', async () => {
    const provider = new JsonRpcProvider(node.url, undefined, { polling: true })
    const signer = await provider.getSigner(cow)
    expect(verifyMessage('hello', await signer.signMessage('hello')).toLowerCase()).toBe(cow)
    provider.destroy()

    const client = createWalletClient({ account: cow, transport: http(node.url) })
    const signature = await client.signMessage({ message: 'hello' })
    expect((await recoverMessageAddress({ message: 'hello', signature })).toLowerCase()).toBe(cow)

    const { eth } = new Web3(node.url)
    const message = '0x68656c6c6f'
    expect(await eth.sign(message, cow)).toBe(signature)
    await eth.personal.importRawKey(key, secretWord)
    await eth.personal.lockAccount(address)
    const signed = await eth.personal.sign(message, address, secretWord)
    expect((await eth.personal.ecRecover(message, signed)).toLowerCase()).toBe(address)
    expect((await node.ask('personal_sign', [message, address])).error?.code).toBe(-32602)
    expect(signed).toBe(await new Wallet(key).signMessage('hello'))
  })

  test('behavior: structured data is signed as viem and ethers hash it', async () => {
    const client = createWalletClient({ account: cow, transport: http(node.url) })
    const signature = await client.signTypedData(typedData)
    expect((await recoverTypedDataAddress({ ...typedData, signature })).toLowerCase()).toBe(cow)
    const { EIP712Domain: _domain, Unused: _unused, ...types } = typedData.types
    const fields = Object.fromEntries(Object.entries(types).map(([name, list]) => [name, [...list]]))
    expect(verifyTypedData(typedData.domain, fields, typedData.message, signature).toLowerCase()).toBe(cow)
    // Structured data may be an object or its text.
    expect(await node.result('eth_signTypedData_v4', [cow, wireData])).toBe(signature)
  })

  test.each([
    ['personal_newAccount', [null], -32602, /Passphrase is null/],
    ['personal_newAccount', [5], -32602, /passphrase: expected text/],
    ['personal_newAccount', ['half a \ud800 character'], -32602, /Invalid passphrase: must be well-formed Unicode/],
    ['personal_newAccountWithSeed', [null], -32602, /Seed is null/],
    ['personal_newAccountWithSeed', [{}], -32602, /seed: expected text/],
    ['personal_importRawKey', [null, 'x'], -32602, /Key cannot be null/],
    ['personal_importRawKey', ['0x12', 'x'], -32602, /32 bytes/],
    ['personal_importRawKey', [`0x${'0'.repeat(64)}`, 'x'], -32602, /range of the curve/],
    ['personal_importRawKey', [`0x${'f'.repeat(64)}`, 'x'], -32602, /range of the curve/],
    ['personal_importRawKey', ['0xzz', 'x'], -32602, /must be a valid hex/],
    ['personal_importRawKey', [key], -32602, /takes \[key, passphrase\]/],
    ['personal_importRawKey', [key, null], -32602, /Passphrase is null/],
    ['personal_dumpRawKey', ['0x12'], -32602, /address: expected/],
    ['personal_lockAccount', [7], -32602, /address: expected/],
    ['personal_unlockAccount', [address, 'x'], -32602, /takes \[address, passphrase, duration\]/],
    ['personal_unlockAccount', [address, 'x', -5], -32602, /duration: expected/],
    ['personal_unlockAccount', [address, 'x', `0x${'f'.repeat(40)}`], -32602, /duration: expected/],
    ['personal_sendTransaction', [{}, 'x'], -32602, /from is null/],
    ['personal_sendTransaction', [{ from: cow }, 'x'], -32602, /Could not find account/],
    ['personal_sendTransaction', ['x', 'x'], -32602, /from is null \(transaction: expected an object/],
    ['personal_sign', ['hello', cow], -32602, /data: expected bytes/],
    ['personal_ecRecover', ['0x00', '0x00'], -32602, /65 bytes/],
    ['personal_ecRecover', ['0x00', `0x${'00'.repeat(65)}`], -32602, /Invalid signature/],
    ['eth_signTypedData_v4', [cow, '{'], -32602, /typedData: expected/],
    ['eth_signTypedData_v4', [cow, { ...wireData, primaryType: 'Nobody' }], -32602, /Nobody is not described/],
    ['eth_signTypedData_v4', [cow, { ...wireData, message: {} }], -32602, /Invalid typed data/],
    ['eth_signTypedData_v4', [address.replace('c6', 'c7'), wireData], -32602, /Account not found/],
  ])('error: %s %j', async (method, params, code, message) => {
    const { error } = await node.ask(method, params)
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) })
    expect(JSON.stringify(error)).not.toContain(key.slice(2))
  })

  test('error: structured data that is slow to hash delays no other caller', async () => {
    const slow = await NodeProcess.start(['--workers', '1'], patient)
    const sign = (types: object, message: object) =>
      slow.ask('eth_signTypedData_v4', [cow, { types, primaryType: 'A', domain: {}, message }])
    const large = await sign({ A: [{ name: 'x', type: 'string' }] }, { x: 'x'.repeat(500_000) })
    expect(large.error).toMatchObject({ code: -32602, message: expect.stringContaining('too large') })
    // Without the limits of the thread, this nesting takes half a minute and some hundred megabytes.
    const deep = { A: [{ name: 'x', type: `uint8${'[]'.repeat(60_000)}` }] }
    const chain = Object.fromEntries(
      Array.from({ length: 3000 }, (_none, index) => [`A${index || ''}`, [{ name: 'x', type: `A${index + 1}` }]]),
    )
    for (const types of [deep, { ...chain, A3000: [] }]) {
      let isOver = false
      const refused = sign(types, { x: [] }).finally(() => {
        isOver = true
      })
      for (let times = 0; times < 10; times++) expect(await slow.result('net_version')).toBe('33')
      expect(isOver).toBe(false)
      expect([-32602, -32011]).toContain((await refused).error?.code)
    }
    const good = await Promise.all(Array.from({ length: 8 }, () => slow.ask('eth_signTypedData_v4', [cow, wireData])))
    expect(new Set(good.map(({ result }) => result)).size).toBe(1)
    expect(good[0]?.result).toMatch(/^0x[0-9a-f]{130}$/)
    const names = { ...typedData.types, constructor: [{ name: 'x', type: 'bool' }] }
    for (const primaryType of ['toString', '__proto__']) {
      const { error } = await slow.ask('eth_signTypedData_v4', [cow, { ...wireData, types: names, primaryType }])
      expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('is not described') })
    }
    expect(slow.errors).not.toContain('internal error')
    await slow.stop()
  })

  test('behavior: no internal error was logged', () => {
    expect(node.errors).not.toContain('internal error')
  })
})

describe('a network with real money', { timeout: patienceMs }, () => {
  test('behavior: personal_* is not there unless asked for, and public keys are not held', async () => {
    const plain = await NodeProcess.start(['--network', 'testnet'])
    expect((await plain.ask('personal_listAccounts')).error?.code).toBe(-32601)
    expect(await plain.result('eth_accounts')).toEqual([])
    expect((await plain.ask('hardhat_setBalance', [cow, '0x1'])).error?.code).toBe(-32601)
    expect((await plain.ask('anvil_setBalance', [cow, '0x1'])).error?.code).toBe(-32601)
    await plain.stop()

    const settings =
      'wallet = true\n[rpc]\ntimeoutMs = 60000\n[modules.personal]\nenabled = true\n[modules.hardhat]\nenabled = true\n'
    const asked = await NodeProcess.start(['--network', 'testnet'], settings)
    expect(await asked.result('eth_accounts')).toEqual([])
    expect(await asked.result('personal_importRawKey', [keys[0], 'x'])).toBe(cow)
    expect(await asked.result('personal_listAccounts')).toEqual([cow])
    expect((await asked.ask('hardhat_setBalance', [cow, '0x1'])).error).toMatchObject({
      code: -32601,
      message: expect.stringMatching(/development networks only/),
    })
    await asked.stop()
  })

  test('error: accounts are not shown to other machines unless that is asked for', async () => {
    // A public address does not serve them; an address with access = "private" would.
    const settings = 'wallet = true\n[http]\nhost = "0.0.0.0"\naccess = "private"\n'
    await expect(NodeProcess.start(['--network', 'testnet', '--open'], settings)).rejects.toThrow(
      /wallet: .*http\.host/,
    )
  })
})
