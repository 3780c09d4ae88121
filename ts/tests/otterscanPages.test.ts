import { readFileSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { getAddress, JsonRpcProvider } from 'ethers'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath as program } from '../../scripts/setup/chromium.mjs'
import { openPage } from './browserPage.ts'
import { NodeProcess } from './node.ts'

// The requests of the pages of Otterscan, and Otterscan itself in a browser.

const from = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const holder = getAddress(`0x${'a1'.repeat(20)}`)
const receiver = `0x${'b2'.repeat(20)}`
const contract = (digit: string) => `0x${'0'.repeat(36)}c0d${digit}`
const [token, payer, factory, failing] = ['1', '2', '3', '4'].map(contract) as [string, string, string, string]
const transfer = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const word = (value: string) => value.replace('0x', '').padStart(64, '0')
/** Texts of the events and methods that the page looks up. */
const signatures: Readonly<Record<string, string>> = {
  '/signatures/a9059cbb': 'transfer(address,uint256)',
  [`/topic0/${transfer}`]: 'Transfer(address,address,uint256)',
}

/** Hashes and addresses that the pages are about. */
interface Subjects {
  readonly head: { readonly number: number; readonly hash: string }
  readonly paid: string
  readonly made: string
  readonly moved: string
  readonly creation: string
  readonly failed: string
  readonly created: string
  /** A transaction in the middle of those of the holder. */
  readonly middle: { readonly hash: string; readonly blockNumber: number }
}

let node: NodeProcess
let subjects: Subjects

beforeAll(async () => {
  node = await NodeProcess.start(['--workers', '1', '--index-addresses'])
  for (const [address, code] of [
    // Emits Transfer from the caller to the first argument.
    [token, `0x602435600052600435337f${transfer}60206000a300`],
    // Sends a wei to the receiver, then calls a precompile.
    [payer, `0x6000600060006000600173${receiver.slice(2)}5af15060006000600060006000600460fff100`],
    // Creates a contract of one byte of code.
    [factory, '0x69600060005360016000f3600052600a60166000f000'],
    // Reverts with Error("no").
    [failing, `0x6308c379a060e01b6000526020600452600260245261${'6e6f'}60f01b60445260646000fd`],
  ])
    await node.result('hardhat_setCode', [address, code])
  const send = (transaction: object) =>
    node.result<string>('eth_sendTransaction', [{ from, gas: '0x30d40', ...transaction }])
  const sent: string[] = []
  for (let turn = 0; turn < 60; turn++) sent.push(await send({ to: holder, value: '0x1' }))
  const paid = await send({ to: payer, value: '0x5' })
  const made = await send({ to: factory })
  const moved = await send({ to: token, data: `0xa9059cbb${word(holder)}${word('5')}` })
  const creation = await send({ data: '0x600060005360016000f3' })
  await node.ask('eth_sendTransaction', [{ from, to: failing, gas: '0x30d40' }])
  const block = await node.result<{ number: string; hash: string; transactions: string[] }>('eth_getBlockByNumber', [
    'latest',
    false,
  ])
  const { contractAddress } = await node.result<{ contractAddress: string }>('eth_getTransactionReceipt', [creation])
  const { blockNumber } = await node.result<{ blockNumber: string }>('eth_getTransactionByHash', [sent[30]])
  subjects = {
    head: { number: Number(block.number), hash: block.hash },
    paid,
    made,
    moved,
    creation,
    failed: block.transactions[0] ?? '',
    created: getAddress(contractAddress),
    middle: { hash: sent[30] ?? '', blockNumber: Number(blockNumber) },
  }
}, 60_000)

afterAll(async () => {
  expect(node?.errors).not.toContain('internal error')
  await node?.stop()
})

/** Reads a value as Otterscan and ethers do. Throws if it has another form. */
type Read = (value: unknown) => void

const quantity: Read = (value) => BigInt(value as string)
const bytes =
  (length?: number): Read =>
  (value) => {
    const isSized = length === undefined || String(value).length === 2 + 2 * length
    if (!/^0x([0-9a-f]{2})*$/i.test(String(value)) || !isSized) throw new TypeError(`${length} bytes, got ${value}`)
  }
const [data, hash, address] = [bytes(), bytes(32), bytes(20)]
const kind =
  (name: string): Read =>
  (value) => {
    if (typeof value !== name) throw new TypeError(`${name}, got ${JSON.stringify(value)}`)
  }
const [flag, wholeNumber, words] = [kind('boolean'), kind('number'), kind('string')]
const orNull =
  (read: Read): Read =>
  (value) => {
    if (value !== null && value !== undefined) read(value)
  }
const list =
  (read: Read): Read =>
  (value) => {
    if (!Array.isArray(value)) throw new TypeError(`a list, got ${JSON.stringify(value)}`)
    value.forEach(read)
  }
const members =
  (reads: Readonly<Record<string, Read>>): Read =>
  (value) => {
    for (const [name, read] of Object.entries(reads)) {
      try {
        read((value as Record<string, unknown>)[name])
      } catch (error) {
        throw new TypeError(`${name}: ${error instanceof Error ? error.message : error}`)
      }
    }
  }

const header = {
  hash,
  parentHash: hash,
  number: quantity,
  timestamp: quantity,
  difficulty: quantity,
  gasLimit: quantity,
  gasUsed: quantity,
  miner: address,
  extraData: data,
  receiptsRoot: hash,
  stateRoot: hash,
  sha3Uncles: hash,
}
const details = {
  ...header,
  baseFeePerGas: quantity,
  size: quantity,
  totalDifficulty: quantity,
  transactionCount: quantity,
}
const transaction = {
  hash,
  type: quantity,
  blockHash: hash,
  blockNumber: quantity,
  transactionIndex: quantity,
  from: address,
  gasPrice: quantity,
  gas: quantity,
  to: orNull(address),
  value: quantity,
  nonce: quantity,
  input: data,
}
const receipt = {
  to: orNull(address),
  from: address,
  contractAddress: orNull(address),
  transactionIndex: quantity,
  gasUsed: quantity,
  blockHash: hash,
  transactionHash: hash,
  blockNumber: quantity,
  cumulativeGasUsed: quantity,
  status: quantity,
  type: quantity,
}
const log = {
  transactionIndex: quantity,
  blockNumber: quantity,
  transactionHash: hash,
  address,
  topics: list(hash),
  data,
  logIndex: quantity,
  blockHash: hash,
}
/** Otterscan reads logs of receipts in search results itself, and `removed` must be there. */
const found = {
  txs: list(members(transaction)),
  receipts: list(members({ ...receipt, timestamp: quantity, logs: list(members({ ...log, removed: flag })) })),
  firstPage: flag,
  lastPage: flag,
}
const change =
  (read: Read): Read =>
  (value) => {
    if (value === '=') return
    const [sign = '', ...others] = Object.keys(value as object)
    const changed = (value as Record<string, unknown>)[sign]
    if (others.length > 0 || !/^[*+-]$/.test(sign)) throw new TypeError(`one change, got ${JSON.stringify(value)}`)
    if (sign === '*') members({ from: read, to: read })(changed)
    else read(changed)
  }
const changes: Read = (value) => {
  for (const account of Object.values(value as object)) {
    members({ balance: change(quantity), nonce: change(quantity), code: change(data) })(account)
    for (const slot of Object.values((account as { storage: object }).storage)) change(hash)(slot)
  }
}

/** The form of each answer. */
const answers: Readonly<Record<string, Read>> = {
  eth_chainId: quantity,
  eth_blockNumber: quantity,
  eth_getTransactionByHash: orNull(
    members({ ...transaction, r: orNull(quantity), s: orNull(quantity), v: orNull(quantity) }),
  ),
  eth_getTransactionReceipt: orNull(members({ ...receipt, logsBloom: data, logs: list(members(log)) })),
  eth_getTransactionCount: quantity,
  eth_getBalance: quantity,
  eth_getCode: data,
  eth_call: data,
  erigon_getHeaderByNumber: members({ ...header, hash }),
  ots_getApiLevel: (value) => {
    if (!(Number(value) >= 8)) throw new TypeError(`level 8, got ${value}`)
  },
  ots_getBlockDetails: members({
    block: members(details),
    issuance: members({ blockReward: quantity, uncleReward: quantity }),
    totalFees: quantity,
  }),
  ots_getBlockDetailsByHash: orNull(members({ block: members(details), totalFees: quantity })),
  ots_getBlockTransactions: members({
    fullblock: members({ ...header, transactionCount: wholeNumber, transactions: list(members(transaction)) }),
    receipts: list(members(receipt)),
  }),
  ots_getInternalOperations: list(members({ type: wholeNumber, from: address, to: address, value: quantity })),
  ots_getTransactionError: data,
  ots_traceTransaction: list(
    members({ type: words, depth: wholeNumber, from: address, to: address, value: orNull(quantity), input: data }),
  ),
  ots_hasCode: flag,
  ots_getContractCreator: orNull(members({ hash, creator: address })),
  ots_getTransactionBySenderAndNonce: orNull(hash),
  ots_searchTransactionsBefore: members(found),
  ots_searchTransactionsAfter: members(found),
  trace_replayTransaction: members({ stateDiff: orNull(changes), vmTrace: orNull(members({ ops: list(() => {}) })) }),
}

type Request = readonly [method: string, params: readonly unknown[]]

const start: readonly Request[] = [
  ['eth_chainId', []],
  ['eth_blockNumber', []],
  ['erigon_getHeaderByNumber', ['latest']],
  ['ots_getApiLevel', []],
]
/** Whether an account is a token, as ethers asks. */
const nameOf = (to: string): Request => ['eth_call', [{ to: to.toLowerCase(), data: '0x06fdde03' }, 'latest']]
const sender = getAddress(from)
const overview = (hash: string, block: number): readonly Request[] => [
  ['eth_getTransactionByHash', [hash]],
  ['eth_getTransactionReceipt', [hash]],
  ['ots_getBlockDetails', [block]],
  ['eth_getTransactionCount', [from, 'latest']],
  ['ots_getInternalOperations', [hash]],
  ['ots_getTransactionError', [hash]],
  ['ots_traceTransaction', [hash]],
  ['ots_hasCode', [sender, block - 1]],
  nameOf(sender),
]
const listed = (of: string): readonly Request[] => [
  ['ots_hasCode', [of, 'latest']],
  ['eth_getBalance', [of.toLowerCase(), 'latest']],
  ['eth_getTransactionCount', [of.toLowerCase(), 'latest']],
  ['ots_getContractCreator', [of]],
]

/** The pages, and the requests that each sends, as Otterscan 2.10 sends them. */
const pages: readonly [string, (of: Subjects) => readonly Request[]][] = [
  ['home', ({ head }) => [...start, ['erigon_getHeaderByNumber', [head.number]]]],
  ['latest blocks', ({ head }) => [3, 2, 1, 0].map((depth): Request => ['ots_getBlockDetails', [head.number - depth]])],
  [
    'a block by number',
    ({ head }) => [
      ['ots_getBlockDetails', [head.number]],
      ['ots_getBlockDetails', [0]],
    ],
  ],
  ['a block by hash', ({ head }) => [['ots_getBlockDetailsByHash', [head.hash]]]],
  ['a block that is not there', () => [['ots_getBlockDetailsByHash', [`0x${'ab'.repeat(32)}`]]]],
  ['transactions of a block', ({ head }) => [['ots_getBlockTransactions', [head.number - 3, 0, 25]]]],
  ['a payment', ({ paid, head }) => overview(paid, head.number - 4)],
  ['a creation by a contract', ({ made, head }) => overview(made, head.number - 3)],
  ['a token', ({ moved, head }) => [...overview(moved, head.number - 2), nameOf(token)]],
  ['a creation', ({ creation, head }) => overview(creation, head.number - 1)],
  ['a transaction that failed', ({ failed, head }) => overview(failed, head.number)],
  ['a transaction that is not there', () => [['eth_getTransactionByHash', [`0x${'ab'.repeat(32)}`]]]],
  ['changes of the state', ({ paid }) => [['trace_replayTransaction', [paid, ['stateDiff']]]]],
  ['where a transaction reverted', ({ failed }) => [['trace_replayTransaction', [failed, ['vmTrace']]]]],
  ['an address', () => [...listed(holder), ['ots_searchTransactionsBefore', [holder, 0, 25]]]],
  ['its last page', () => [['ots_searchTransactionsAfter', [holder, 0, 25]]]],
  [
    'a page in between',
    ({ middle: { hash, blockNumber } }) => [
      ['eth_getTransactionByHash', [hash]],
      ['ots_searchTransactionsBefore', [holder, blockNumber + 1, 25]],
      ['ots_searchTransactionsBefore', [holder, blockNumber, 25]],
      ['ots_searchTransactionsAfter', [holder, blockNumber - 1, 25]],
      ['ots_searchTransactionsAfter', [holder, blockNumber, 25]],
    ],
  ],
  ['a sender', () => [...listed(sender), ['ots_searchTransactionsBefore', [sender, 0, 25]]]],
  [
    'a contract',
    ({ created }) => [
      ...listed(created),
      ['ots_searchTransactionsBefore', [created, 0, 25]],
      ['eth_getCode', [created.toLowerCase(), 'latest']],
      ['eth_getCode', [created, 'latest']],
    ],
  ],
  ['a transaction by its nonce', () => [['ots_getTransactionBySenderAndNonce', [from, 3]]]],
  ['a nonce that is not used', () => [['ots_getTransactionBySenderAndNonce', [from, 999]]]],
]

describe('the requests of Otterscan', () => {
  let provider: JsonRpcProvider
  beforeAll(() => {
    // As Otterscan creates it: requests of a moment go as a batch.
    provider = new JsonRpcProvider(node.url, undefined, { staticNetwork: true })
  })
  afterAll(() => provider.destroy())

  test.each(pages)('behavior: %s', async (_name, requests) => {
    const sent = requests(subjects)
    const results = await Promise.all(sent.map(([method, params]) => provider.send(method, [...params])))
    for (const [index, [method, params]] of sent.entries()) {
      expect(answers, method).toHaveProperty(method)
      try {
        answers[method]?.(results[index])
      } catch (error) {
        expect.fail(`${method} ${JSON.stringify(params)}: ${error instanceof Error ? error.message : error}`)
      }
    }
  })

  test('behavior: pages of an address lead through all of its transactions, in both directions', async () => {
    const search = (way: string, number: number) =>
      provider.send(`ots_searchTransactions${way}`, [holder, number, 25]) as Promise<{
        readonly txs: readonly { readonly hash: string; readonly blockNumber: string }[]
        readonly firstPage: boolean
        readonly lastPage: boolean
      }>
    const down: string[] = []
    for (let number = 0, isLast = false; !isLast; ) {
      const { txs, lastPage } = await search('Before', number)
      down.push(...txs.map(({ hash }) => hash))
      number = Number(txs.at(-1)?.blockNumber)
      isLast = lastPage
    }
    expect(new Set(down).size).toBe(61)
    const up: string[] = []
    for (let number = 0, isFirst = false; !isFirst; ) {
      const { txs, firstPage } = await search('After', number)
      up.unshift(...txs.map(({ hash }) => hash))
      number = Number(txs[0]?.blockNumber)
      isFirst = firstPage
    }
    expect(up).toEqual(down)
  })
})

/** A checkout of Otterscan with its build in `dist`. */
const checkout = process.env.OTTERSCAN
const reason =
  checkout === undefined
    ? ' (skipped: OTTERSCAN names no built checkout)'
    : program === undefined
      ? ' (skipped: there is no Chromium; CHROMIUM_PATH names one)'
      : ''
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
}

describe.skipIf(reason !== '')(`Otterscan${reason}`, { timeout: 60_000 }, () => {
  let server: Server
  let browser: Browser
  const complaints: string[] = []
  /** Requests to the node whose answer is an error. */
  const refused: string[] = []
  const asked = new Set<string>()
  const site = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  function serve(path: string, response: ServerResponse): void {
    if (path === '/config.json') {
      const nativeCurrency = { name: 'Rootstock bitcoin', symbol: 'RBTC', decimals: 18 }
      const chainInfo = { name: 'Rootstock regtest', faucets: [], nativeCurrency }
      response.end(JSON.stringify({ erigonURL: node.url, assetsURLPrefix: site(), chainInfo }))
      return
    }
    const signature = signatures[path]
    if (signature !== undefined || /^\/(signatures|topic0|assets\/33)\//.test(path)) {
      response.writeHead(signature === undefined ? 404 : 200).end(signature)
      return
    }
    const file = extname(path) === '' ? 'index.html' : path
    const body = readFileSync(join(checkout ?? '', 'dist', file))
    response.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' }).end(body)
  }

  beforeAll(async () => {
    server = createServer((request, response) => serve(new URL(request.url ?? '/', site()).pathname, response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
    browser = await chromium.launch({ executablePath: program ?? '', args })
  })
  afterAll(async () => {
    await browser?.close()
    server?.close()
    server?.closeAllConnections()
    // Texts that the page looks up elsewhere are not there, and it preloads a font.
    const expected = /status of 404|does not exist in (4bytes|topic0) DB|was preloaded using link preload/
    expect(complaints.filter((complaint) => !expected.test(complaint))).toEqual([])
    // Accounts that are no tokens.
    expect(refused.filter((one) => !one.startsWith('eth_call'))).toEqual([])
    // The table above has every method.
    const known = new Set(pages.flatMap(([, requests]) => requests(subjects).map(([method]) => method)))
    expect([...asked].filter((method) => !known.has(method))).toEqual([])
  })

  async function open(path: string): Promise<Page> {
    const page = await openPage(browser, 'about:blank', complaints, { viewport: { width: 1280, height: 900 } })
    await page.route(/sourcify/, (route) => route.fulfill({ status: 404, body: '{}' }))
    page.on('response', async (response) => {
      if (!response.url().startsWith(node.url) || response.request().method() !== 'POST') return
      const calls = [response.request().postDataJSON()].flat() as { id: number; method: string; params: unknown }[]
      const results = [await response.json().catch(() => [])].flat() as { id: number; error?: object }[]
      for (const { id, method, params } of calls) {
        asked.add(method)
        const error = results.find((one) => one.id === id)?.error
        if (error !== undefined) refused.push(`${method} ${JSON.stringify(params)}: ${JSON.stringify(error)}`)
      }
    })
    await page.goto(`${site()}${path}`)
    return page
  }

  /** Waits until the page shows all texts. */
  async function shows(page: Page, ...texts: readonly string[]): Promise<void> {
    const shown = async () => (await page.locator('body').innerText()).replace(/\s+/g, ' ')
    for (const text of texts) await expect.poll(shown, { timeout: 20_000 }).toContain(text)
  }

  test('behavior: the first page shows the latest block, and the next one', async () => {
    const page = await open('/')
    await shows(page, `Latest block: ${subjects.head.number}`)
    const number = Number(await node.result('eth_blockNumber'))
    await node.result('evm_mine')
    await shows(page, `Latest block: ${number + 1}`)
    await page.close()
  })

  test('behavior: the latest blocks', async () => {
    const page = await open('/special/liveBlocks')
    await shows(page, 'Latest Blocks', String(subjects.head.number), String(subjects.head.number - 5))
    await page.close()
  })

  test('behavior: a block, its transactions, one of them', async () => {
    const { head, moved } = subjects
    let page = await open(`/block/${head.number}`)
    await shows(page, `Block Height: ${head.number}`, '2 transactions in this block', head.hash, 'Total Difficulty')
    await page.close()
    page = await open(`/block/${head.hash}`)
    await shows(page, `Block Height: ${head.number}`)
    await page.close()
    page = await open(`/block/${head.number - 2}/txs`)
    await shows(page, 'A total of 2 transactions found', moved)
    await page.close()
    page = await open(`/block/${head.number - 2}/tx/0`)
    await shows(page, `Transaction Hash: ${moved}`)
    await page.close()
  })

  test('behavior: a transaction with its token, logs, calls and changes of the state', async () => {
    const { moved, paid } = subjects
    const page = await open(`/tx/${moved}`)
    await shows(page, 'Status: Success', 'Tokens Transferred (1)', 'Transaction Action: transfer')
    await page.getByText('Logs (1)').click()
    await shows(page, 'Transfer', getAddress(token))
    await page.goto(`${site()}/tx/${paid}/trace`)
    await shows(page, getAddress(payer), getAddress(receiver), '0.000000000000000005 RBTC')
    await page.goto(`${site()}/tx/${paid}/statediff`)
    await shows(page, 'balance', '+0.000000000000000004 RBTC')
    await page.close()
  })

  test('behavior: inner operations, a creation, a failure', async () => {
    const { paid, made, creation, failed, created } = subjects
    const page = await open(`/tx/${paid}`)
    await shows(page, 'TRANSFER', getAddress(receiver))
    await page.goto(`${site()}/tx/${made}`)
    await shows(page, 'CREATE', getAddress(factory))
    await page.goto(`${site()}/tx/${creation}`)
    await shows(page, `Contract Created: ${created}`)
    await page.goto(`${site()}/tx/${failed}`)
    await shows(page, 'Status: Fail', 'no')
    await page.goto(`${site()}/tx/0x${'ab'.repeat(32)}`)
    await shows(page, 'not found')
    await page.close()
  })

  test('behavior: an address, its pages forth and back', async () => {
    const page = await open(`/address/${holder}`)
    await shows(page, '25 transactions on this page')
    const rows = async () => {
      await shows(page, 'transactions on this page')
      return page.locator('a[href^="/tx/0x"]').evaluateAll((links) => links.map((link) => link.getAttribute('href')))
    }
    const first = await rows()
    const turn = async (name: string, path: RegExp) => {
      await page.getByRole('link', { name, exact: true }).first().click()
      await page.waitForURL(path)
      await expect.poll(rows).not.toEqual(first)
      return rows()
    }
    const last = await turn('Last', /txs\/last/)
    await turn('<', /txs\/prev/)
    await page.goto(`${site()}/address/${holder}`)
    await expect.poll(rows).toEqual(first)
    const second = await turn('>', /txs\/next/)
    expect(second.filter((link) => first.includes(link))).toEqual([])
    expect(last.at(-1)).not.toBe(first.at(-1))
    await page.close()
  })

  test('behavior: a sender, a contract with its creator, its code', async () => {
    const { created, creation } = subjects
    const page = await open(`/address/${sender}`)
    await shows(page, 'Transactions sent: 65', '25 transactions on this page')
    await page.goto(`${site()}/address/${created}`)
    await shows(page, 'Contract creator:', creation)
    await page.goto(`${site()}/address/${created}/contract`)
    await shows(page, 'Contract Bytecode')
    await expect.poll(() => page.locator('textarea').last().inputValue(), { timeout: 20_000 }).toBe('0x00')
    await page.goto(`${site()}/address/${created}/readContract`)
    await shows(page, 'Read Contract')
    await page.goto(`${site()}/address/${sender}?nonce=3`)
    await shows(page, 'From / Nonce:')
    await page.close()
  })

  test.each([
    ['a number', () => '7', 'Block Height: 7'],
    ['a hash', () => subjects.paid, 'Transaction Hash:'],
    ['an address', () => holder, 'transactions on this page'],
  ])('behavior: a search by %s', async (_kind, query, text) => {
    const page = await open('/')
    await page.locator('input[data-test="home-search-input"]').fill(query())
    await page.getByRole('button', { name: 'Search' }).click()
    await shows(page, text)
    await page.close()
  })
})
