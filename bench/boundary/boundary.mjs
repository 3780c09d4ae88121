// Cost of a call from TypeScript to Rust, with one worker thread and with several that share one node.
import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { Wallet } from 'ethers'
import { startNode } from '../../ts/dist/index.js'

// The addon of this process; the package does not export it.
const addon = createRequire(import.meta.url)('../../ts/src/native/rhizome.node')
const seconds = 1
const account = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const message = 'a message'
const signature = new Wallet(`0x${'11'.repeat(32)}`).signMessageSync(message)
const calls = [
  ['ethBlockNumber', []],
  ['ethGetBalance', [account, 'latest']],
  ['ethGetBlockByNumber', ['0x0', false]],
  // Upper bound of every method that recovers a sender.
  ['personalEcRecover', [`0x${Buffer.from(message).toString('hex')}`, signature]],
]

/** Reports calls a second for 1, 2, … workers. Throws if a worker sees a different node than the others. */
export async function run(report) {
  const node = await startNode({ ephemeral: true, http: { port: 0, workers: 1 }, log: { level: 'silent' } })
  const counts = [...new Set([1, 2, availableParallelism()])].sort((a, b) => a - b)
  const callers = Array.from({ length: counts.at(-1) }, () => new Caller())
  try {
    for (const [name, parameters] of calls) {
      for (const count of counts) {
        const active = callers.slice(0, count)
        const before = process.cpuUsage()
        const done = await Promise.all(active.map((caller) => caller.ask({ name, parameters, seconds })))
        const value = done.reduce((sum, one) => sum + one.calls, 0) / seconds
        const { user, system } = process.cpuUsage(before)
        report({ name: `${name}, ${count} ${count === 1 ? 'worker' : 'workers'}`, value, unit: 'calls/s' })
        const micros = (user + system) / (value * seconds)
        if (count === 1) report({ name: `${name}, processor time of a call`, value: micros, unit: 'µs' })
      }
    }
    await addon.evmMine(1, -1, 0, 0)
    const head = addon.headCursor()
    const seen = await Promise.all(
      callers.map((caller) => caller.ask({ name: 'headCursor', parameters: [], seconds: 0 })),
    )
    const isSame = seen.every((one) => one.last === head)
    if (!isSame) throw new Error(`workers see different nodes: ${head} and ${seen.map((one) => one.last)}`)
    report({ name: 'workers that see the block mined by another thread', value: seen.length, unit: 'workers' })
  } finally {
    await Promise.all(callers.map((caller) => caller.end()))
    await node.stop()
  }
}

class Caller {
  #worker = new Worker(new URL('./caller.mjs', import.meta.url))

  ask(request) {
    return new Promise((resolve, reject) => {
      this.#worker.once('message', resolve)
      this.#worker.once('error', reject)
      this.#worker.postMessage(request)
    })
  }

  end() {
    return this.#worker.terminate()
  }
}
