// Whether one caller can hold up the others: bodies up to the limit and batches from 100 connections, while another caller
// asks for eth_blockNumber. Two figures for each: how late that caller is answered, and the longest time that a worker did
// not come to its events. The attackers run only while a processor has nothing else to do, as if on other machines.
import { prepare } from '../chain/prepare.mjs'
import { buildDriver, drive, Plan } from '../rpc/driver.mjs'
import { learn } from '../rpc/learn.mjs'
import { startRhizome } from '../targets/rhizome.mjs'
import { freePort } from '../targets/target.mjs'
import { batches, bodies } from './attacks.mjs'

const connections = 100
const caller = { connections: 8, pauseMs: 10 }
const bars = { delayMs: 10, p99Ms: 50 }
/** The node notes how late it comes to its events once in so long. */
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
    await measure(report, { name: 'nobody else', node, asked, timeMs, delays })
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

/** A request with what it is answered with. */
async function learned(url, request) {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: request })
  return { status: response.status, request, answer: await response.text() }
}

async function measure(report, { name, node, asked, timeMs, delays, attack }) {
  // What went on before must not be counted.
  await pause(windowMs + 500)
  const attacking = attack && drive(node.url, attack, { connections, timeMs, patienceMs: 60_000, isBackground: true })
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
    unit: `ms the longest delay; others: ${times}${against}${fault ? `; ${fault}` : ''}`,
    isFailure,
  })
}

/** Milliseconds, of all workers. */
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
