// Whether one caller can block the others: expensive bodies and batches from 100 connections, while another caller requests
// eth_blockNumber. Measures the latency of that caller and the longest delay of a worker's event loop. The attackers run at
// idle priority, as if on other machines.
import { prepare } from '../chain/prepare.mjs'
import { buildDriver, drive, Plan } from '../rpc/driver.mjs'
import { learn } from '../rpc/learn.mjs'
import { startRhizome } from '../targets/rhizome.mjs'
import { freePort } from '../targets/target.mjs'
import { batches, bodies } from './attacks.mjs'

const connections = 100
const caller = { connections: 8, pauseMs: 10 }
const bars = { delayMs: 10, p99Ms: 50 }
/** Interval at which the node records the delay of its event loops. */
const windowMs = 1000

export async function run(report, { isQuick = false }) {
  buildDriver()
  const metricsPort = await freePort()
  const node = await startRhizome({
    env: {
      RHIZOME_RPC_MAX_BATCH_REQUESTS: '50',
      RHIZOME_RPC_TIMEOUT_MS: '5000',
      RHIZOME_METRICS_ENABLED: 'true',
      RHIZOME_METRICS_PORT: `${metricsPort}`,
    },
  })
  const timeMs = isQuick ? 2000 : 5000
  try {
    const chain = await prepare(node.url, { longest: 0 })
    const asked = new Plan(await learn(node.url, [{ method: 'eth_blockNumber', params: [], check: () => true }]))
    const delays = () => longestDelay(`http://127.0.0.1:${metricsPort}/metrics`)
    await measure(report, { name: 'no other caller', node, asked, timeMs, delays })
    for (const [name, make] of Object.entries({ ...bodies, ...batches })) {
      const attack = new Plan([await learned(node.url, make(chain))])
      await measure(report, { name, node, asked, timeMs, delays, attack })
      attack.remove()
    }
    asked.remove()
  } finally {
    await node.stop()
  }
}

/** Sends a request once and returns it with its answer. */
async function learned(url, request) {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: request })
  return { status: response.status, request, answer: await response.text() }
}

async function measure(report, { name, node, asked, timeMs, delays, attack }) {
  // Excludes delays of the previous measurement.
  await pause(windowMs + 500)
  const attacking = attack && drive(node.url, attack, { connections, timeMs, timeoutMs: 60_000, isBackground: true })
  const seen = []
  const sampler = setInterval(() => delays().then((ms) => seen.push(ms)), windowMs / 2)
  const { p50, p99, max, right, wrong, lost, fault } = await drive(node.url, asked, { ...caller, timeMs })
  const sent = await attacking
  await pause(windowMs + 500)
  clearInterval(sampler)
  const delay = Math.max(await delays(), ...seen)
  const isFailure = delay > bars.delayMs || p99 / 1000 > bars.p99Ms || wrong + lost > 0 || right === 0
  const times = `50 % ${ms(p50)}, 99 % ${ms(p99)}, slowest ${ms(max)} ms`
  const against =
    sent === undefined ? '' : `, against ${sent.right + sent.wrong} answers in ${Math.round(sent.seconds)} s`
  report({
    name,
    value: delay,
    unit: `ms longest delay; other caller: ${times}${against}${fault ? `; ${fault}` : ''}`,
    isFailure,
  })
}

/** Longest delay of all workers, in milliseconds. */
async function longestDelay(url) {
  const text = await (await fetch(url)).text()
  const found = text.matchAll(/^rhizome_worker_loop_delay_seconds\{.*quantile="1".*\} (\S+)$/gm)
  return 1000 * Math.max(...[...found].map(([, value]) => Number(value)))
}

function ms(microseconds) {
  return (microseconds / 1000).toFixed(1)
}

function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
