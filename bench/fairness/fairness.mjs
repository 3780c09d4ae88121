// Whether one caller can block the others: expensive bodies and batches from 100 connections, while another caller requests
// eth_blockNumber. Measures the latency of that caller and the longest step of a worker's event loop, in processor time: the
// delay of the event loop, also printed, includes waits for a processor that other processes use. The attackers run at idle
// priority, as if on other machines. A case with a time above a bar is measured a second time, which counts: on a shared machine any step may
// take milliseconds more.
import { prepare } from '../chain/prepare.mjs'
import { buildDriver, drive, Plan } from '../rpc/driver.mjs'
import { learn } from '../rpc/learn.mjs'
import { startRhizome } from '../targets/rhizome.mjs'
import { freePort } from '../targets/target.mjs'
import { batches, bodies } from './attacks.mjs'

const connections = 100
const caller = { connections: 8, pauseMs: 10 }
const bars = { stepMs: 10, p99Ms: 50 }
/** Interval at which the node records the figures of its event loops. */
const windowMs = 1000

export async function run(report, { isQuick = false, program, cases = [''] }) {
  buildDriver()
  const metricsPort = await freePort()
  const node = await startRhizome({
    program,
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
    const loops = () => longestStep(`http://127.0.0.1:${metricsPort}/metrics`)
    report(await measure({ name: 'no other caller', node, asked, timeMs, loops }))
    const chosen = Object.entries({ ...bodies, ...batches }).filter(([name]) => cases.some((one) => name.includes(one)))
    for (const [name, make] of chosen) {
      const attack = new Plan([await learned(node.url, make(chain))])
      const first = await measure({ name, node, asked, timeMs, loops, attack })
      const isRepeated = first.isFailure && !first.isWrong
      report(isRepeated ? await measure({ name, node, asked, timeMs, loops, attack, first }) : first)
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

/** Returns the figures of a case. `first`: those of a measurement above a bar. */
async function measure({ name, node, asked, timeMs, loops, attack, first }) {
  // Excludes earlier steps: a figure covers the second before it was recorded, and stays for another second.
  await pause(2 * windowMs + 200)
  const attacking = attack && drive(node.url, attack, { connections, timeMs, timeoutMs: 60_000, isBackground: true })
  const seen = []
  const sampler = setInterval(() => loops().then((figures) => seen.push(figures)), windowMs / 2)
  const { p50, p99, max, right, wrong, lost, fault } = await drive(node.url, asked, { ...caller, timeMs })
  const sent = await attacking
  await pause(windowMs + 500)
  clearInterval(sampler)
  seen.push(await loops())
  const stepMs = Math.max(...seen.map((figures) => figures.stepMs))
  const delayMs = Math.max(...seen.map((figures) => figures.delayMs))
  const isWrong = wrong + lost > 0 || right === 0
  const isFailure = isWrong || stepMs > bars.stepMs || p99 / 1000 > bars.p99Ms
  const times = `50 % ${ms(p50)}, 99 % ${ms(p99)}, slowest ${ms(max)} ms`
  const against =
    sent === undefined ? '' : `, against ${sent.right + sent.wrong} answers in ${Math.round(sent.seconds)} s`
  const again =
    first === undefined
      ? ''
      : `; measured before: ${first.value.toFixed(1)} ms longest step, 99 % ${first.p99Ms.toFixed(1)} ms`
  return {
    name,
    value: stepMs,
    unit: `ms longest step, ${delayMs.toFixed(1)} ms longest delay; other caller: ${times}${against}${fault ? `; ${fault}` : ''}${again}`,
    delayMs,
    p50Ms: p50 / 1000,
    p99Ms: p99 / 1000,
    longestMs: max / 1000,
    attacks: sent && sent.right + sent.wrong,
    isWrong,
    isFailure,
  }
}

/** Returns the longest step of all workers in processor time, and their longest delay, in the last second. */
async function longestStep(url) {
  const text = await (await fetch(url)).text()
  const longest = (pattern) => 1000 * Math.max(...[...text.matchAll(pattern)].map(([, value]) => Number(value)))
  return {
    stepMs: longest(/^rhizome_worker_loop_work_seconds\{.*\} (\S+)$/gm),
    delayMs: longest(/^rhizome_worker_loop_delay_seconds\{.*quantile="1".*\} (\S+)$/gm),
  }
}

function ms(microseconds) {
  return (microseconds / 1000).toFixed(1)
}

function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
