import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { encodeAbiParameters, encodeDeployData, encodeFunctionData, parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath as program } from '../../scripts/setup/chromium.mjs'
import { openPage } from './browserPage.ts'
import { counter } from './contract.ts'
import { NodeProcess, runCommand, scratchFolder } from './node.ts'

const title =
  program === undefined ? 'the explorer (skipped: there is no Chromium; CHROMIUM_PATH names one)' : 'the explorer'

const from = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const holder = `0x${'a1'.repeat(20)}` as const
const token = '0x000000000000000000000000000000000000c0d1'
const failing = '0x000000000000000000000000000000000000c0d2'
/** Text that would run as a script if it were markup. */
const hostile = '<img src=x onerror=alert(1)><script>alert(2)</script>'
const sizes = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } }

/** Answers each call with a text. If there is a value, emits Transfer from the caller to the holder before. */
function tokenCode(text: string): string {
  const answer = encodeAbiParameters([{ type: 'string' }], [text]).slice(2)
  const transfer = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
  const length = (answer.length / 2).toString(16).padStart(2, '0')
  const emit = `34600052${`73${holder.slice(2)}`}337f${transfer}60206000a3`
  const begin = (size: number) => `60${length}60${size.toString(16).padStart(2, '0')}60003960${length}6000f3`
  // JUMPI over the log without a value.
  const skip = (emit.length / 2 + 5).toString(16).padStart(2, '0')
  const head = `341560${skip}57${emit}5b`
  return `0x${head}${begin(head.length / 2 + 12)}${answer}`
}

// Other processes slow down the start of a browser.
describe.skipIf(program === undefined)(title, { timeout: 60_000 }, () => {
  let node: NodeProcess
  let browser: Browser
  let transfer: string
  let failed: string
  /** Problems of a page: blocked scripts, errors, dialogs, failed requests. */
  const complaints: string[] = []

  beforeAll(async () => {
    node = await NodeProcess.start(['--workers', '1', '--explorer', '0'])
    const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
    browser = await chromium.launch({ executablePath: program ?? '', args })
    await node.result('hardhat_setCode', [token, tokenCode(hostile)])
    const reason = encodeAbiParameters([{ type: 'string' }], [hostile]).slice(2)
    const revert = `08c379a0${reason}`
    const length = (revert.length / 2).toString(16).padStart(2, '0')
    await node.result('hardhat_setCode', [failing, `0x60${length}600c60003960${length}6000fd${revert}`])
    const abi = parseAbi(['function transfer(address to, uint256 amount)'])
    const data = encodeFunctionData({ abi, args: [holder, 5n] })
    const send = (to: string, value: string) =>
      node.ask('eth_sendTransaction', [{ from, to, data, value, gas: '0x30d40' }])
    await send(failing, '0x0')
    const { transactions } = await node.result<{ transactions: string[] }>('eth_getBlockByNumber', ['latest'])
    failed = transactions[0] ?? ''
    transfer = String((await send(token, '0x7')).result)
  })
  afterAll(async () => {
    await browser?.close()
    await node?.stop()
    expect(complaints).toEqual([])
    expect(node?.errors).not.toContain('internal error')
  })

  function open(address = '', options: BrowserContextOptions = {}): Promise<Page> {
    return openPage(browser, `${node.explorerUrl}/${address}`, complaints, options)
  }

  test('behavior: new blocks and transactions appear by themselves', async () => {
    const page = await open()
    await page.getByRole('heading', { name: 'Latest blocks' }).waitFor()
    const hash = await node.result<string>('eth_sendTransaction', [{ from, to: holder, value: '0x1' }])
    await page.locator(`a[title="${hash}"]`).first().waitFor()
    const { number } = await node.result<{ number: string }>('eth_getBlockByNumber', ['latest'])
    await page
      .locator('#head')
      .getByText(`block ${Number(number)}`)
      .waitFor()
    // Another block replaces it.
    await node.result('anvil_rollback', [1])
    await node.result('evm_mine')
    await page.locator(`a[title="${hash}"]`).first().waitFor({ state: 'detached' })
    await page.context().close()
  })

  test('behavior: the search finds blocks, transactions and addresses, by keyboard', async () => {
    const page = await open()
    await page.getByRole('heading', { name: 'Latest blocks' }).waitFor()
    const find = async (text: string) => {
      await page.locator('body').press('/')
      await page.keyboard.press('ControlOrMeta+A')
      await page.keyboard.type(text)
      await page.keyboard.press('Enter')
    }
    await find('1')
    await page.getByRole('heading', { name: 'Block 1', exact: true }).waitFor()
    const { hash } = await node.result<{ hash: string }>('eth_getBlockByNumber', ['0x2'])
    await page.locator('main').focus()
    await find(hash)
    await page.getByRole('heading', { name: 'Block 2', exact: true }).waitFor()
    await page.locator('main').focus()
    await find(transfer)
    await page.getByRole('heading', { name: 'Transaction 0x' }).waitFor()
    await page.locator('main').focus()
    await find(holder)
    await page.getByRole('heading', { name: 'Account' }).waitFor()
    await page.locator('main').focus()
    await find('nonsense')
    await page.getByText('Search for a block number').waitFor()
    expect(await page.locator('#searched:focus').count()).toBe(1)
    await page.context().close()
  })

  test('behavior: a view that loads leaves the focus to the search field in use', async () => {
    const page = await open()
    await page.getByRole('heading', { name: 'Latest blocks' }).waitFor()
    await page.evaluate(`location.hash = '#/tx/${transfer}'`)
    await page.locator('#searched').focus()
    await page.getByRole('heading', { name: 'Transaction 0x' }).waitFor()
    expect(await page.locator('#searched:focus').count()).toBe(1)
    await page.keyboard.type('1')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Block 1', exact: true }).waitFor()
    expect(await page.locator('#content:focus').count()).toBe(1)
    await page.context().close()
  })

  test('behavior: a transaction has decoded input and logs, calls with gas, and changes of the state', async () => {
    const page = await open(`#/tx/${transfer}`)
    const main = page.locator('main')
    await main.getByText('transfer', { exact: true }).first().waitFor()
    await main.getByText('amount (uint256)').first().waitFor()
    await main.getByText('Transfer', { exact: true }).waitFor()
    await expect.poll(() => main.locator('.calls li').count()).toBe(1)
    await main.locator('.calls').getByText('gas').waitFor()
    await main.getByRole('cell', { name: 'balance' }).first().waitFor()
    await page.context().close()
  })

  test('behavior: texts of contracts never run', async () => {
    const page = await open(`#/address/${token}`)
    await page.getByText(hostile).first().waitFor()
    await page.getByRole('heading', { name: 'Code' }).waitFor()
    await page.goto(`${node.explorerUrl}/#/tx/${failed}`)
    await page.getByText(hostile).first().waitFor()
    expect(await page.locator('main img, main script').count()).toBe(0)
    await page.goto(`${node.explorerUrl}/#/address/${encodeURIComponent(hostile)}`)
    await page.getByText('The node refused the request').waitFor()
    expect(await page.locator('main img, main script').count()).toBe(0)
    await page.context().close()
  })

  test('behavior: an address has its transactions and the slots of its storage', async () => {
    await node.result('hardhat_setStorageAt', [token, '0x0', `0x${'42'.padStart(64, '0')}`])
    await node.result('evm_mine')
    const page = await open(`#/address/${holder}`)
    await page.locator(`a[title="${transfer}"]`).waitFor()
    await page.goto(`${node.explorerUrl}/#/address/${token}`)
    await page
      .getByRole('cell', { name: `0x${'42'.padStart(64, '0')}` })
      .or(page.getByText('0x42'))
      .first()
      .waitFor()
    await page.context().close()
  })

  test('behavior: mining and time are controlled; waiting transactions are in the pool', async () => {
    const page = await open('#/controls')
    const before = Number(await node.result<string>('eth_blockNumber'))
    await page.getByLabel('Number of blocks').fill('3')
    await page.getByRole('button', { name: 'Mine', exact: true }).click()
    await expect.poll(async () => Number(await node.result<string>('eth_blockNumber'))).toBe(before + 3)
    await page.getByRole('button', { name: 'Switch off' }).click()
    await page.getByText('Done').nth(1).waitFor()
    const hash = await node.result<string>('eth_sendTransaction', [{ from, to: holder, value: '0x1' }])
    await page.getByRole('link', { name: 'Pool' }).click()
    await page.locator(`a[title="${hash}"]`).waitFor()
    await node.result('evm_setAutomine', [true])
    await node.result('evm_mine')
    await page.locator(`a[title="${hash}"]`).waitFor({ state: 'detached' })
    await page.context().close()
  })

  test.each(Object.entries(sizes))('behavior: no view is wider than a %s, light or dark', async (_name, viewport) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await open('', { viewport, colorScheme })
      for (const address of ['', '#/block/2', `#/tx/${transfer}`, `#/address/${token}`, '#/pool', '#/controls']) {
        await page.goto(`${node.explorerUrl}/${address}`)
        await page.locator('main h2').first().waitFor()
        expect(await page.evaluate('document.documentElement.scrollWidth'), address).toBeLessThanOrEqual(viewport.width)
      }
      await page.context().close()
    }
  })

  test('behavior: inputs, errors and logs are decoded by the artifacts of --artifacts', async () => {
    const artifacts = scratchFolder()
    writeFileSync(join(artifacts, 'Counter.json'), JSON.stringify({ contractName: 'Counter', ...counter }))
    const own = await NodeProcess.start(['--workers', '1', '--explorer', '0', '--artifacts', artifacts])
    const send = (data: string, to?: string) => own.ask('eth_sendTransaction', [{ from, to, data, gas: '0x100000' }])
    const last = async () =>
      (await own.result<{ transactions: string[] }>('eth_getBlockByNumber', ['latest'])).transactions[0]
    const abi = parseAbi(['constructor(uint256 start)', 'function increase(uint256)'])
    await send(encodeDeployData({ abi, bytecode: counter.bytecode as `0x${string}`, args: [7n] }))
    const { contractAddress } = await own.result<{ contractAddress: string }>('eth_getTransactionReceipt', [
      await last(),
    ])
    await send(encodeFunctionData({ abi, functionName: 'increase', args: [5n] }), contractAddress)
    const page = await openPage(browser, `${own.explorerUrl}/#/tx/${await last()}`, complaints, {})
    const main = page.locator('main')
    await main.getByText('increase', { exact: true }).first().waitFor()
    await main.getByText('Increased', { exact: true }).waitFor()
    await send(encodeFunctionData({ abi, functionName: 'increase', args: [9000n] }), contractAddress)
    await page.goto(`${own.explorerUrl}/#/tx/${await last()}`)
    await main.getByText('TooMuch(wanted: 9000, most: 1000)').first().waitFor()
    await page.context().close()
    await own.stop()
  })

  test('behavior: a node with apps is shown with an API key', async () => {
    const dir = join(scratchFolder(), 'data')
    const { output } = await runCommand(['keys', 'create', 'explorer', '--data-dir', dir, '--json'])
    const { key } = JSON.parse(output) as { key: string }
    const own = await NodeProcess.start(['--workers', '1', '--explorer', '0', '--data-dir', dir])
    const refused: string[] = []
    const page = await openPage(browser, own.explorerUrl ?? '', refused, {})
    await page.getByText('The node requires an API key').waitFor()
    await page.getByLabel('API key').fill('other')
    await page.keyboard.press('Enter')
    await expect.poll(() => refused.length).toBeGreaterThan(1)
    await page.getByLabel('API key').fill(key)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Latest blocks' }).waitFor()
    expect(await page.getByLabel('API key').isVisible()).toBe(false)
    // Only connections without a valid key have failed.
    expect(refused.filter((text) => !text.includes('WebSocket connection'))).toEqual([])
    await page.context().close()
    await own.stop()
  })

  test('error: other names, methods and paths are refused', async () => {
    const url = node.explorerUrl ?? ''
    const answer = await fetch(url)
    const policy = answer.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("script-src 'self'")
    expect(policy).toContain(`connect-src 'self' ${node.url.replace('http', 'ws')}`)
    expect((await fetch(`${url}/settings`, { headers: { origin: 'http://other.example' } })).status).toBe(403)
    expect((await fetch(url, { method: 'POST' })).status).toBe(405)
    expect((await fetch(`${url}/api/node`)).status).toBe(404)
  })
})
