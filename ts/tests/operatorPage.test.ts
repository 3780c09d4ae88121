import { generateKeyPairSync } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { createPublicClient, http } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath as program } from '../../scripts/setup/chromium.mjs'
import type { AppView, FigureReport } from '../src/admin/shapes.ts'
import { type App, createApp } from '../src/auth/app.ts'
import { FileStore } from '../src/auth/fileStore.ts'
import { openPage } from './browserPage.ts'
import { freePort } from './freePort.ts'
import { hasNats, NatsProcess, withoutNats } from './natsServer.ts'
import { NodeProcess, scratchFolder } from './node.ts'

const title =
  program === undefined
    ? "the operator's page (skipped: there is no Chromium; CHROMIUM_PATH names one)"
    : "the operator's page"

// Other processes slow down the start of a browser.
describe.skipIf(program === undefined)(title, { timeout: 60_000 }, () => {
  const dir = join(scratchFolder(), 'data')
  let node: NodeProcess
  let browser: Browser
  /** Problems of a page: blocked scripts, errors, failed requests. */
  const complaints: string[] = []

  beforeAll(async () => {
    node = await NodeProcess.start(['--data-dir', dir, '--workers', '2', '--admin-port', '0'])
    // Chromium has no sandbox for root.
    const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
    browser = await chromium.launch({ executablePath: program ?? '', args })
  })
  afterAll(async () => {
    await browser.close()
    await node.stop()
  })

  function open(url = node.adminUrl ?? '', options: BrowserContextOptions = {}): Promise<Page> {
    const permissions = ['clipboard-read', 'clipboard-write']
    return openPage(browser, url, complaints, { permissions, ...options })
  }

  async function create(page: Page, fields: Readonly<Record<string, string>>): Promise<string> {
    await page.getByRole('button', { name: 'New app' }).click()
    const form = page.getByRole('dialog')
    for (const [label, text] of Object.entries(fields)) await form.getByLabel(label, { exact: true }).fill(text)
    await form.getByRole('button', { name: 'Create' }).click()
    return shownUrl(page)
  }

  /** Returns the URL that is shown once, and closes its form. */
  async function shownUrl(page: Page): Promise<string> {
    const url = await page.getByRole('textbox', { name: 'HTTP', exact: true }).inputValue()
    await page.getByRole('button', { name: 'I have stored it' }).click()
    return url
  }

  const calls = (url: string) => createPublicClient({ transport: http(url, { retryCount: 0 }) })
  const requestsOf = async (page: Page, method: string) =>
    Number(await page.locator(`[data-method=${method}] [data-name=requests]`).textContent())

  test('behavior: empty, then from the first app to its end', async () => {
    const page = await open()
    await expect.poll(() => page.getByText('No apps yet: the node is open').isVisible()).toBe(true)
    await page.getByRole('button', { name: 'New app' }).click()
    await page.getByText('This is the first app').waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()

    const url = await create(page, { Name: 'shop', Description: 'the shop', 'Use case': 'gaming' })
    expect(url).toMatch(/\/rz_[\w-]{43}$/)
    await page.locator('[data-app=shop]').getByText('the shop').waitFor()
    // Its key is not shown again.
    expect(await page.content()).not.toContain(url.slice(-43))
    expect(await calls(url).getChainId()).toBe(33)
    await expect(calls(node.url).getChainId()).rejects.toThrow(/authenticated/)
    for (let turn = 0; turn < 5; turn++) await calls(url).getGasPrice()
    await expect.poll(() => requestsOf(page, 'eth_gasPrice')).toBe(5)
    await page.locator('[data-app=shop] .period').first().getByText('6 requests').waitFor()

    await page.getByRole('button', { name: 'Rotate shop' }).click()
    await page.getByRole('button', { name: 'Rotate', exact: true }).click()
    const rotated = await shownUrl(page)
    await expect(calls(url).getChainId()).rejects.toThrow(/authenticated/)
    expect(await calls(rotated).getChainId()).toBe(33)

    await page.getByRole('button', { name: 'Revoke shop' }).click()
    const revoke = page.getByRole('button', { name: 'Revoke', exact: true })
    expect(await revoke.isDisabled()).toBe(true)
    await page.getByLabel('Type the name').fill('sho')
    expect(await revoke.isDisabled()).toBe(true)
    await page.getByLabel('Type the name').fill('shop')
    await revoke.click()
    await page.locator('[data-app=shop]').waitFor({ state: 'detached' })
    await expect(calls(rotated).getChainId()).rejects.toThrow(/authenticated/)
    await page.getByLabel('show revoked').check()
    await page.locator('[data-app=shop]').getByText('revoked', { exact: true }).waitFor()
    await page.context().close()
  })

  test('behavior: the key can be copied, and is not lost by a key stroke', async () => {
    const page = await open()
    await page.getByRole('button', { name: 'New app' }).click()
    await page.getByLabel('Name', { exact: true }).fill('taken-along')
    await page.keyboard.press('Enter')
    const url = await page.getByRole('textbox', { name: 'HTTP', exact: true }).inputValue()
    await page.getByRole('button', { name: 'Copy: HTTP', exact: true }).click()
    await page.getByText('Copied', { exact: true }).waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(url)
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    expect(await page.getByRole('textbox', { name: 'HTTP', exact: true }).inputValue()).toBe(url)
    await shownUrl(page)
    await page.context().close()
  })

  test('behavior: limits and allow lists are edited; errors are shown at their field', async () => {
    const page = await open()
    await create(page, { Name: 'limited' })
    const edit = () => page.getByRole('button', { name: 'Edit limited' }).click()
    const form = page.getByRole('dialog')
    const save = form.getByRole('button', { name: 'Save' })
    await edit()
    await form.getByText('Limits', { exact: true }).click()
    await form.getByLabel('Units per day').fill('many')
    await form.getByText('Allow lists', { exact: true }).click()
    await form.getByLabel('Methods').fill('eth_*\nnet_version')
    await save.click()
    await form.getByText('expected a whole number of at least 1').waitFor()
    expect(await form.getByLabel('Units per day').getAttribute('aria-invalid')).toBe('true')
    await form.getByLabel('Units per day').fill('2,000')
    await form.getByLabel('Addresses').fill('10.0.0.0/8\n10.0.0.0/99')
    await save.click()
    await form.getByText('"10.0.0.0/99" is not an IP address').waitFor()
    expect(await form.getByLabel('Addresses').getAttribute('aria-invalid')).toBe('true')
    expect(await form.getByLabel('Units per day').getAttribute('aria-invalid')).toBeNull()
    await form.getByLabel('Addresses').fill('10.0.0.0/8')
    await save.click()
    await form.waitFor({ state: 'detached' })
    const app = page.locator('[data-app=limited]')
    await app.getByText('2,000 units/day').waitFor()
    await app.getByText('methods: 2').waitFor()
    const stored = (await (await fetch(`${node.adminUrl}/api/apps/limited`)).json()) as object
    expect(stored).toMatchObject({
      limits: { dailyUnits: 2000, unitsPerSecond: null },
      allow: { sources: ['10.0.0.0/8'], methods: ['eth_*', 'net_version'], origins: [] },
    })
    // The row was created again; the keyboard focus stays on the same button.
    await expect.poll(() => page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Edit limited')
    await page.keyboard.press('Enter')
    expect(await form.getByLabel('Units per day').inputValue()).toBe('2000')
    await form.getByLabel('Units per day').fill('')
    await save.click()
    await app.getByText('2,000 units/day').waitFor({ state: 'detached' })
    await page.context().close()
  })

  test('behavior: keys for tokens come and go', async () => {
    const page = await open()
    await create(page, { Name: 'tokens' })
    const edit = () => page.getByRole('button', { name: 'Edit tokens' }).click()
    const form = page.getByRole('dialog')
    const save = form.getByRole('button', { name: 'Save' })
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    await edit()
    await form.getByText('Tokens (JWT)', { exact: true }).click()
    await form.getByLabel('A token in addition to the key').selectOption('is required with every request')
    await save.click()
    await form.getByText('there is no key to check tokens with').waitFor()
    await form.getByLabel('Add a key: its id').fill('first')
    await form
      .getByLabel('Add a key: the public key')
      .fill(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())
    await save.click()
    await form.getByText('is secret; give the public key').waitFor()
    expect(await form.getByLabel('Add a key: the public key').getAttribute('aria-invalid')).toBe('true')
    await form
      .getByLabel('Add a key: the public key')
      .fill(publicKey.export({ type: 'spki', format: 'pem' }).toString())
    await save.click()
    const app = page.locator('[data-app=tokens]')
    await app.getByText('token needed').waitFor()
    await edit()
    expect(await form.getByLabel('Keys in use').inputValue()).toBe('first')
    await form.getByLabel('Add a key: its id').fill('second')
    await form
      .getByLabel('Add a key: the public key')
      .fill(JSON.stringify(generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })))
    await save.click()
    await app.getByText('token keys: 2').waitFor()
    await edit()
    await form.getByLabel('Keys in use').fill('second')
    await save.click()
    await app.getByText('token keys: 1').waitFor()
    const { jwt } = (await (await fetch(`${node.adminUrl}/api/apps/tokens`)).json()) as AppView
    expect(jwt).toMatchObject({ isRequired: true, keys: [{ kid: 'second', alg: 'EdDSA' }] })
    await page.context().close()
  })

  test('behavior: names that exist, and fields that are left out', async () => {
    const page = await open()
    await create(page, { Name: 'twice' })
    await page.getByRole('button', { name: 'New app' }).click()
    expect(await page.getByRole('button', { name: 'Create' }).isDisabled()).toBe(true)
    await page.getByLabel('Name', { exact: true }).fill('twice')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText('there is an app twice already').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('../twice')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText('expected up to 64 letters').waitFor()
    await page.context().close()
  })

  test('behavior: the message of a wrong field is in sight', async () => {
    const page = await open(node.adminUrl, { viewport: { width: 900, height: 420 } })
    await page.getByRole('button', { name: 'New app' }).click()
    const form = page.getByRole('dialog')
    await form.getByLabel('Name', { exact: true }).fill('two words')
    await form.getByRole('button', { name: 'Create' }).click()
    const message = form.locator('.problem:not(:empty)')
    await message.waitFor()
    const box = await message.boundingBox()
    const dialog = await form.boundingBox()
    if (box === null || dialog === null) throw new Error('the message or its form is not drawn')
    expect(box.y).toBeGreaterThanOrEqual(dialog.y)
    expect(box.y + box.height).toBeLessThanOrEqual(dialog.y + dialog.height)
    await page.context().close()
  })

  test('behavior: figures over time are drawn, and read out under the pointer and by arrow keys', async () => {
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ name: 'drawn' })
    const made = await fetch(`${node.adminUrl}/api/apps`, { method: 'POST', headers, body })
    const { key } = (await made.json()) as { key: string }
    const url = `${node.url}/${key}`
    for (let turn = 0; turn < 7; turn++) await calls(url).getBalance({ address: `0x${'11'.repeat(20)}` })
    const page = await open()
    const part = page.locator('#over-time')
    // Each worker reports the requests of apps every five seconds.
    const counted = async () => {
      const answer = await fetch(`${node.adminUrl}/api/figures?range=month&app=drawn`)
      const { methods } = (await answer.json()) as FigureReport
      return methods[0]?.requests.reduce((sum, one) => sum + one, 0)
    }
    await expect.poll(counted, { timeout: 15_000 }).toBe(7)
    await part.getByLabel('Node or app').selectOption('drawn')
    const line = part.locator('[data-line=eth_getBalance] .number')
    await expect.poll(() => line.textContent()).toBe('7')
    await part.getByRole('button', { name: 'Month' }).click()
    expect(await part.locator('.chart .axis').count()).toBeGreaterThanOrEqual(6)
    await part.locator('.chart').scrollIntoViewIfNeeded()
    const box = await part.locator('.chart').boundingBox()
    if (box === null) throw new Error('the chart is not drawn')
    await page.mouse.move(box.x + box.width * 0.5, box.y + box.height * 0.5)
    await expect.poll(() => line.textContent()).toBe('0')
    await expect.poll(() => part.locator('.hover').getAttribute('visibility')).toBe('visible')
    await page.mouse.move(0, 0)
    await part.locator('.chart').focus()
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => line.textContent()).toBe('7')
    await part.getByLabel('Figure', { exact: true }).selectOption('p99Ms')
    await part.getByText('Latencies are measured for the node only').waitFor()
    await page.context().close()
  })

  test('behavior: many apps are searched, not all shown', async () => {
    const store = new FileStore(join(dir, 'apps.json'))
    const given = { description: '', useCase: '', network: 'regtest', expiresAt: null }
    const before = await store.read()
    const many = Array.from({ length: 120 }, (_none, index) => `many-${index}`).reduce<readonly App[]>(
      (apps, name) => createApp(apps, { ...given, name }, Date.now()).apps,
      before,
    )
    await store.change(() => ({ apps: many }))
    const page = await open()
    await page.getByText(/^and \d+ more/).waitFor()
    expect(await page.locator('.app').count()).toBe(100)
    await page.getByLabel('Search apps').fill('MANY-11')
    await expect.poll(() => page.locator('.app').count()).toBe(11)
    await page.getByLabel('Search apps').fill('nowhere')
    await page.getByText('No app matches').waitFor()
    await store.change(() => ({ apps: before }))
    await page.context().close()
  })

  test('behavior: peers are listed, added, banned and admitted', async () => {
    const flags = async () => ['--workers', '1', '--admin-port', '0', '--p2p-port', String(await freePort())]
    const [first, second] = [await NodeProcess.start(await flags()), await NodeProcess.start(await flags())]
    const { enode, id } = await second.result<{ enode: string; id: string }>('admin_nodeInfo')
    const page = await open(first.adminUrl)
    const part = page.locator('#peers')
    await part.getByText('No peers yet: the node is searching.').waitFor()
    // The URL of the node is long and has no blank.
    await page.setViewportSize({ width: 900, height: 720 })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(900)
    await page.setViewportSize({ width: 1280, height: 720 })
    expect(await page.locator('#sync').isVisible()).toBe(false)
    await part.getByRole('button', { name: 'Add peer' }).click()
    const form = page.getByRole('dialog')
    await form.getByLabel('URL').fill('enode://nonsense')
    await form.getByRole('button', { name: 'Add', exact: true }).click()
    await form.getByText('invalid enode').waitFor()
    await form.getByLabel('URL').fill(enode)
    await form.getByRole('button', { name: 'Add', exact: true }).click()
    const row = part.locator(`[data-peer="${id}"]`)
    await row.waitFor()
    await row.getByText(/^Rhizome\/v/).waitFor()
    await row.getByText('outbound, named').waitFor()
    await expect.poll(() => row.locator('.number').first().textContent()).toBe('0')

    await row.getByRole('button', { name: `Ban ${id.slice(0, 16)}` }).click()
    await form.getByLabel('For').selectOption('an hour')
    await form.getByRole('button', { name: 'Ban', exact: true }).click()
    await row.waitFor({ state: 'detached' })
    await part.getByText(`Dialled, not connected: ${enode}`).waitFor()
    const ban = part.locator(`[data-ban="${id}"]`)
    await ban.waitFor()
    await ban.getByRole('button', { name: `Admit ${id.slice(0, 16)}` }).click()
    await ban.waitFor({ state: 'detached' })
    await row.waitFor()
    await row.getByRole('button', { name: `Remove ${id.slice(0, 16)}` }).click()
    await form.getByRole('button', { name: 'Remove', exact: true }).click()
    await row.waitFor({ state: 'detached' })
    await page.context().close()
    await Promise.all([first.stop(), second.stop()])
  })

  test('behavior: the stages of a running synchronization', async () => {
    const page = await open()
    const stages = [
      { stage: 'headers', block: 4000, target: 9000, perSecond: 900 },
      { stage: 'state', block: 3 << 20, target: 9 << 20, perSecond: 1 << 20 },
      { stage: 'bodies', block: 1500, target: 4000, perSecond: 18 },
      { stage: 'execution', block: 1000, target: 4000, perSecond: 16 },
    ]
    const sync = { isSyncing: true, stages, peers: 3, peersOverBudget: 1, secondsBehind: 90000, secondsLeft: 500 }
    const older = { oldest: 60_001, perSecond: 500, secondsLeft: 120 }
    await page.route('**/api/node', async (route) => {
      const response = await route.fetch()
      const body = { ...((await response.json()) as object), sync: { ...sync, older, failure: null } }
      await route.fulfill({ response, json: body })
    })
    const part = page.locator('#sync')
    await part.getByText('3 peers, 1 of them at their limit · 25 h behind the best header · about 8 min left').waitFor()
    expect(await part.locator('[data-stage=execution] .number').allTextContents()).toEqual(['1,000', '4,000', '16'])
    const text = 'Older blocks: stored down to block 60,001 · 500 a second · about 2 min left'
    expect(await part.locator('[data-older]').textContent()).toBe(text)
    expect(await part.locator('[data-stage=state] .number').allTextContents()).toEqual(['3 MB', '9 MB', '1 MB'])
    expect(await part.getByLabel('Bodies').evaluate((bar) => [bar.value, bar.max])).toEqual([1500, 4000])
    await page.context().close()
  })

  test('error: texts that would be code stay texts', async () => {
    const attack = '<img src=x onerror="document.title=1"><script>alert(1)</script>\u202Etxt'
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ name: 'attack', description: attack, useCase: attack })
    expect((await fetch(`${node.adminUrl}/api/apps`, { method: 'POST', headers, body })).status).toBe(201)
    const before = complaints.length
    const page = await open()
    const app = page.locator('[data-app=attack]')
    await app.waitFor()
    expect(await app.locator('.description').textContent()).toBe(attack)
    expect(await app.locator('img, script').count()).toBe(0)
    await page.getByRole('button', { name: 'Edit attack' }).click()
    expect(await page.getByLabel('Description').inputValue()).toBe(attack)
    expect(complaints.slice(before)).toEqual([])
    // If there were a hole, the policy of the page would still block the script.
    const injected = await page.evaluate(`(() => {
      try { document.body.innerHTML = '<img src=x onerror=alert(1)>'; return 'set' } catch { return 'refused' }
    })()`)
    expect(injected).toBe('refused')
    await page.context().close()
  })

  test('behavior: a node that stops and starts again', async () => {
    const other = join(scratchFolder(), 'data')
    const first = await NodeProcess.start(['--data-dir', other, '--workers', '1', '--admin-port', '0'])
    const url = first.adminUrl ?? ''
    const page = await open(url)
    await page.getByText('Ready', { exact: true }).waitFor()
    await first.stop()
    await page.getByText('The node does not answer').waitFor()
    const again = await NodeProcess.start(['--data-dir', other, '--workers', '1', '--admin-port', new URL(url).port])
    await page.getByText('The node does not answer').waitFor({ state: 'hidden' })
    await page.context().close()
    await again.stop()
  })

  test('behavior: an unreadable list of apps hides only the apps', async () => {
    const file = join(dir, 'apps.json')
    const before = readFileSync(file, 'utf8')
    const page = await open()
    await page.locator('[data-app=twice]').waitFor()
    writeFileSync(file, before.slice(0, -20))
    await page.getByText('The apps are unavailable').waitFor()
    expect(await page.locator('[data-app=twice]').isVisible()).toBe(true)
    const head = await page.locator('.tile .value').first().textContent()
    expect(head).toBe('0')
    await page.getByRole('button', { name: 'Revoke twice' }).click()
    await page.getByLabel('Type the name').fill('twice')
    await page.getByRole('button', { name: 'Revoke', exact: true }).click()
    await page.getByRole('dialog').getByText('is damaged').waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    writeFileSync(file, before)
    await page.getByText('The apps are unavailable').waitFor({ state: 'hidden' })
    await page.context().close()
  })

  test('behavior: started open, it says so and promises no lock', async () => {
    const flags = ['--data-dir', join(scratchFolder(), 'data'), '--workers', '1', '--admin-port', '0', '--open']
    const free = await NodeProcess.start(flags)
    const page = await open(free.adminUrl)
    await page.getByText('started with --open').waitFor()
    expect(await page.getByText('No apps yet').isVisible()).toBe(false)
    await page.getByRole('button', { name: 'New app' }).click()
    expect(await page.getByText('This is the first app').isVisible()).toBe(false)
    await page.context().close()
    await free.stop()
  })

  test('behavior: a token is requested once per tab', async () => {
    const file = join(scratchFolder(), 'token')
    const token = 'a-token-for-the-page-0123456789'
    writeFileSync(file, token)
    const guarded = await NodeProcess.start(
      ['--workers', '1', '--admin-port', '0'],
      `admin.tokenFile = ${JSON.stringify(file)}\n`,
    )
    const page = await open(guarded.adminUrl)
    await page.getByLabel('Token').fill('wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('wrong token').waitFor()
    await page.getByLabel('Token').fill(token)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Ready', { exact: true }).waitFor()
    expect(await page.getByText('This node has no data directory').isVisible()).toBe(true)
    await page.reload()
    await page.getByText('Ready', { exact: true }).waitFor()
    await page.context().close()
    await guarded.stop()
  })

  test('behavior: fits the width of a phone, and all controls have names', async () => {
    const name = 'a-very-long-name-of-an-app-that-nobody-would-choose-by-himself-1'
    const description = 'x'.repeat(200)
    const headers = { 'content-type': 'application/json' }
    await fetch(`${node.adminUrl}/api/apps`, { method: 'POST', headers, body: JSON.stringify({ name, description }) })
    const page = await open(node.adminUrl, {
      viewport: { width: 320, height: 640 },
      colorScheme: 'dark',
      hasTouch: true,
    })
    await page.locator(`[data-app=${name}]`).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
    await page.getByRole('button', { name: `Edit ${name}` }).click()
    expect(
      await page.evaluate(
        'document.querySelector("dialog").scrollWidth <= document.querySelector("dialog").clientWidth',
      ),
    ).toBe(true)
    const unnamed = `[...document.querySelectorAll('button, input, select, textarea')]
      .filter((one) => one.getAttribute('aria-label') === null && one.textContent === '' && one.labels?.length === 0).length`
    expect(await page.evaluate(unnamed)).toBe(0)
    await page.context().close()
  })

  test.skipIf(!hasNats)(`behavior: the nodes of a fleet${hasNats ? '' : withoutNats}`, async () => {
    const nats = await NatsProcess.start()
    const start = (role: string, ...flags: string[]) =>
      NodeProcess.start(['--workers', '1', '--fleet', role, '--fleet-url', nats.url, ...flags])
    const importer = await start('importer', '--admin-port', '0')
    const replica = await start('replica')
    await importer.result('evm_mine')
    const page = await open(importer.adminUrl)
    await page.getByText('This node is an importer.').waitFor()
    for (const role of ['importer', 'replica'])
      await page.locator('#fleet tbody tr', { hasText: role }).filter({ hasText: 'ready' }).waitFor()
    expect(await page.locator('#fleet tbody tr').count()).toBe(2)
    await page.context().close()
    await Promise.all([importer.stop(), replica.stop()])
    await nats.kill()
  })

  test('behavior: keys are in no store, log or complaint', () => {
    const kept = readFileSync(join(dir, 'apps.json'), 'utf8') + node.errors + complaints.join('\n')
    expect(kept).not.toMatch(/rz_[\w-]{43}/)
    // The browser logs failed requests while the node was down and before signing in.
    expect(
      complaints.filter((text) => !/ERR_CONNECTION_REFUSED|status of (400|401|409|503)|Trusted/.test(text)),
    ).toEqual([])
  })
})
