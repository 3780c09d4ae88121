// The first page of the explorer in Chromium, on a chain of 100,000 blocks: time from the navigation to the painted tables.
import { chromium } from 'playwright-core'
import { chromiumPath } from '../../scripts/setup/chromium.mjs'
import { call, callAll } from '../chain/client.mjs'
import { startRhizome } from '../targets/rhizome.mjs'

const rounds = 9
const blocksPerRequest = 2000
/** The blocks that the page shows, and transfers in each. */
const shownBlocks = 12
const transfers = 10
const sender = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'

export async function run(report, { isQuick }) {
  if (chromiumPath === undefined) {
    process.stdout.write('  not measured: there is no Chromium; CHROMIUM_PATH names one\n')
    return
  }
  const node = await startRhizome({ flags: ['--ephemeral', '--explorer', '0', '--mining', 'off'] })
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  const browser = await chromium.launch({ executablePath: chromiumPath, args })
  try {
    const height = await makeChain(node.url, isQuick ? 10_000 : 100_000)
    const times = []
    // The first round starts the processes of the browser and is not counted.
    for (let round = 0; round <= rounds; round++) {
      const ms = await firstPage(browser, node.explorerUrl)
      if (round > 0) times.push(ms)
    }
    times.sort((a, b) => a - b)
    const name = `first page, ${height.toLocaleString('en')} blocks`
    report({ name: `${name}, median`, value: times[Math.floor(rounds / 2)], unit: 'ms' })
    report({ name: `${name}, slowest of ${rounds}`, value: times[rounds - 1], unit: 'ms' })
  } finally {
    await browser.close()
    await node.stop()
  }
}

/** Mines empty blocks, and transfers in the highest. Returns the height. */
async function makeChain(url, height) {
  const empty = height - shownBlocks
  for (let mined = 0; mined < empty; mined += blocksPerRequest)
    await call(url, 'hardhat_mine', [`0x${Math.min(blocksPerRequest, empty - mined).toString(16)}`])
  for (let block = 0; block < shownBlocks; block++) {
    const transfer = { from: sender, to: `0x${'b0'.repeat(20)}`, value: '0x1', gas: '0x5208' }
    await callAll(url, Array(transfers).fill(['eth_sendTransaction', [transfer]]))
    await call(url, 'evm_mine')
  }
  return Number(await call(url, 'eth_blockNumber'))
}

/** Opens the page without a cache. Returns the milliseconds from the navigation to the frame that shows blocks and transactions. */
async function firstPage(browser, url) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  const page = await context.newPage()
  await page.addInitScript(() => {
    const look = () => {
      const tables = document.querySelectorAll('main tbody')
      const isFull = tables.length === 2 && [...tables].every((table) => table.rows.length > 0)
      // The next frame begins when the tables are painted.
      if (isFull) requestAnimationFrame((now) => Object.assign(window, { shownMs: now }))
      else requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
  })
  await page.goto(url)
  const shown = await page.waitForFunction(() => window.shownMs)
  const ms = await shown.jsonValue()
  await context.close()
  return ms
}
