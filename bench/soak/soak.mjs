// A mixed load with 1,000 connections for minutes: light reads with valid and invalid API keys, log searches over the whole
// chain, traces, calls that revert, and clients that never finish a request. Every answer is compared with the expected one
// for its id and key, which detects lost and mixed-up answers.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { encode, prepare, transferTopic } from '../chain/prepare.mjs'
import { median } from '../rpc/compare.mjs'
import { buildDriver, drive, Plan } from '../rpc/driver.mjs'
import { bodyOf, learn } from '../rpc/learn.mjs'
import { reads } from '../rpc/reads.mjs'
import { startRhizome } from '../targets/rhizome.mjs'

const program = fileURLToPath(new URL('../../ts/rhizome.mjs', import.meta.url))
const apps = ['wallet', 'indexer', 'explorer', 'exchange']
/** Connections, and the pause between an answer and the next request. Together with the slow clients 1,000. */
const groups = {
  light: { connections: 880, pauseMs: 400 },
  blockNumber: { connections: 20, pauseMs: 50 },
  heavy: { connections: 60, pauseMs: 10 },
}
const slowClients = 40
const samples = 40
/** Allowed growth of memory after the first quarter of the run. */
const growthLimit = 1.25
/** Shorter runs do not check memory: the node is still warming up. */
const leastMinutes = 3

/** `order` reorders the requests of a group. */
export async function run(report, { minutes, isQuick = false, order = (requests) => requests }) {
  buildDriver()
  const folder = mkdtempSync(join(tmpdir(), 'rhizome-soak-'))
  const dataDir = join(folder, 'data')
  const keys = apps.map((name) => keysCommand(dataDir, 'create', name).key)
  const node = await startRhizome({ flags: ['--data-dir', dataDir] })
  const loris = new SlowClients(new URL(node.url).port)
  try {
    const chain = await prepare(`${node.url}/${keys[0]}`, { longest: isQuick ? 0 : 10_000 })
    // Revoked while the node runs.
    const revoked = keysCommand(dataDir, 'create', 'former').key
    keysCommand(dataDir, 'revoke', 'former')
    await new Promise((resolve) => setTimeout(resolve, 1000))
    const badKeys = [revoked, `rz_${'A'.repeat(43)}`, 'no-key']
    const plans = await makePlans(node.url, chain, keys, badKeys, order)
    const timeMs = minutes * 60_000
    const memory = []
    const sampler = setInterval(() => memory.push(node.memoryKib), timeMs / samples)
    const entries = Object.entries(groups)
    const measured = await Promise.all(
      entries.map(([name, pacing]) => drive(node.url, plans[name], { ...pacing, timeMs, timeoutMs: 60_000 })),
    )
    clearInterval(sampler)
    for (const plan of Object.values(plans)) plan.remove()
    report({ name: 'length', value: minutes, unit: 'minutes' })
    for (const [index, [name]] of entries.entries()) tell(report, name, measured[index])
    report({
      name: 'clients that never finish a request',
      value: slowClients,
      unit: `of which ${loris.closed} were cut off`,
    })
    tellMemory(report, memory, minutes)
  } finally {
    loris.end()
    await node.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

function keysCommand(dataDir, ...parameters) {
  const flags = ['keys', ...parameters, '--data-dir', dataDir, '--json']
  return JSON.parse(execFileSync(process.execPath, [program, ...flags], { encoding: 'utf8' }))
}

async function makePlans(url, chain, keys, badKeys, order) {
  const learned = async (name) => learn(chain.url, reads.find((one) => one.name === name).requests(chain))
  const names = [
    'eth_getBalance',
    'eth_getTransactionCount',
    'eth_call, balanceOf',
    'eth_getTransactionReceipt',
    'eth_getStorageAt',
  ]
  const light = (await Promise.all(names.map(learned))).flat()
  const ofApps = light.map((entry, index) => ({ ...entry, path: `/${keys[index % keys.length]}` }))
  const refused = await Promise.all(badKeys.map((key) => refusal(url, key)))
  const heavy = [
    await learned('debug_traceTransaction'),
    await learn(chain.url, wholeChain(chain)),
    await learn(chain.url, reverting(chain)),
  ]
  return {
    light: new Plan(order(dealt([ofApps, ofApps.toReversed(), refused]))),
    blockNumber: new Plan(await learned('eth_blockNumber')),
    heavy: new Plan(order(dealt(heavy))),
  }
}

/** Answer to an invalid key. */
async function refusal(url, key) {
  const request = bodyOf('eth_chainId', [])
  const answer = await fetch(`${url}/${key}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: request,
  })
  if (answer.status !== 401) throw new Error(`a bad key was answered with ${answer.status}`)
  return { path: `/${key}`, status: 401, request, answer: await answer.text() }
}

const wholeChain = ({ contract, transfers }) => [
  {
    method: 'eth_getLogs',
    params: [{ fromBlock: '0x0', toBlock: 'latest', address: contract, topics: [transferTopic] }],
    check: (logs) => logs.length === transfers.length,
  },
]

/** Transfers above the balance of the sender. */
const reverting = ({ contract, holders }) =>
  holders.slice(0, 50).map(({ address }) => ({
    method: 'eth_call',
    params: [{ from: address, to: contract, data: encode('transfer', [address, 10n ** 30n]) }, 'latest'],
    checkError: ({ message }) => /not enough tokens/.test(message),
  }))

/** Alternates between the lists, up to the length of the longest. */
function dealt(lists) {
  const length = Math.max(...lists.map((list) => list.length))
  return Array.from({ length }, (_none, index) => lists.map((list) => list[index % list.length])).flat()
}

function tell(report, name, { right, wrong, lost, seconds, p50, p99, max, fault }) {
  report({ name: `${name}: right answers`, value: right, unit: `(${Math.round(right / seconds)}/s)` })
  const isFailure = wrong + lost > 0 || right === 0
  report({ name: `${name}: wrong, crossed or lost`, value: wrong + lost, unit: fault ?? '', isFailure })
  for (const [label, value] of Object.entries({ '50% within': p50, '99% within': p99, 'the slowest': max }))
    report({ name: `${name}: ${label}`, value: value / 1000, unit: 'ms' })
}

/** Ignores the first quarter of the run, in which caches fill. */
function tellMemory(report, memory, minutes) {
  const quarter = Math.floor(memory.length / 4)
  const early = median(memory.slice(quarter, 2 * quarter))
  const late = median(memory.slice(-quarter))
  const isFailure = minutes >= leastMinutes && late > early * growthLimit
  report({ name: 'memory after a quarter of the time', value: early / 1024, unit: 'MiB' })
  report({ name: 'memory at the end', value: late / 1024, unit: 'MiB', isFailure })
}

/** Clients that send a header byte by byte and never finish it. */
class SlowClients {
  closed = 0
  #sockets
  #timer

  constructor(port) {
    this.#sockets = Array.from({ length: slowClients }, () => {
      const socket = connect({ port, host: '127.0.0.1' }, () =>
        socket.write('POST / HTTP/1.1\r\nHost: localhost\r\nX-Slow: '),
      )
      socket.on('error', () => undefined)
      socket.on('close', () => this.closed++)
      return socket
    })
    this.#timer = setInterval(() => {
      for (const socket of this.#sockets) if (!socket.destroyed) socket.write('x')
    }, 1000)
  }

  end() {
    clearInterval(this.#timer)
    for (const socket of this.#sockets) socket.destroy()
  }
}
