// Latency of light methods, alone and beside heavy methods that keep all threads busy. Light requests are sent at a steady
// pace; the 99th percentile counts.
import { drive, Plan } from './driver.mjs'
import { learn } from './learn.mjs'
import { reads } from './reads.mjs'

const light = ['eth_blockNumber', 'eth_chainId', 'eth_getBalance', 'eth_getTransactionReceipt']
const heavy = ['eth_call, 1,000 rounds of Keccak', 'debug_traceTransaction', 'eth_getLogs, 1,000 blocks']
const pacing = { connections: 16, pauseMs: 10 }
const heavyConnections = 8

export const alone = {
  name: 'light methods alone',
  isPaced: true,
  enter: (contender, pace) => enter(contender, pace, false),
}
export const saturated = {
  name: 'light methods beside heavy ones',
  isPaced: true,
  enter: (contender, pace) => enter(contender, pace, true),
}

async function enter({ target: { url }, chain }, { timeMs }, isSaturated) {
  const lightPlan = new Plan((await entries(url, chain, light)).flat())
  const heavyPlan = isSaturated ? new Plan(dealt(await entries(url, chain, heavy))) : undefined
  const measure = async () => {
    if (heavyPlan === undefined) return drive(url, lightPlan, { ...pacing, timeMs })
    const beside = drive(url, heavyPlan, { connections: heavyConnections, timeMs: timeMs * 1.5 })
    // Heavy requests start before the light ones and end after them.
    await new Promise((resolve) => setTimeout(resolve, timeMs / 4))
    const [measured, { wrong, lost, fault }] = await Promise.all([drive(url, lightPlan, { ...pacing, timeMs }), beside])
    return wrong + lost === 0
      ? measured
      : { ...measured, wrong: measured.wrong + wrong, lost: measured.lost + lost, fault }
  }
  const end = () => {
    lightPlan.remove()
    heavyPlan?.remove()
  }
  return { warmUp: () => undefined, measure, end }
}

function entries(url, chain, names) {
  return Promise.all(names.map((name) => learn(url, reads.find((one) => one.name === name).requests(chain))))
}

/** Alternates between the lists, up to the length of the longest. */
function dealt(lists) {
  const length = Math.max(...lists.map((list) => list.length))
  return Array.from({ length }, (_none, index) => lists.map((list) => list[index % list.length])).flat()
}
