// Starts, verification, rewinds and imports with little memory, at the last size of the state.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { call } from '../chain/client.mjs'
import { median } from '../rpc/compare.mjs'
import { startRhizome } from '../targets/rhizome.mjs'
import { copyLines, importBlocks } from './import.mjs'
import { limitMemory } from './limit.mjs'

const starts = 5
const rewound = 1000
const verified = 10
/** Verification that takes longer is stopped. */
const verifyLimitMs = 600_000
/** Limits of memory in MB that are compared. */
const [ample, scarce] = [4096, 512]

/** Measures at the head of `imported`, which it restores. */
export async function measureUpkeep({ node, folder, imported, say }, figure) {
  const head = imported.at(-1)
  say('starting and stopping')
  const [times, stops] = [[], []]
  for (let round = 0; round < starts; round++) {
    const { seconds, stopSeconds } = await timedStart(node, head.to)
    times.push(seconds)
    stops.push(stopSeconds)
  }
  figure('start after a clean stop, median', median(times), 's')
  figure('stop, median', median(stops), 's')
  await verify(node, head.to, figure, say)

  const count = Math.min(rewound, head.to - 1)
  const file = join(folder, 'rewound.blocks')
  const hash = await copyLines(
    imported.map((part) => part.file),
    head.to - count,
    count,
    file,
  )
  if (hash !== head.hash) throw new Error(`the last block of the copy is ${hash}, not ${head.hash}`)
  const rewind = async () => {
    say(`rewinding ${count} blocks`)
    const { seconds, answer } = await runCommand(node, ['rewind', '--to', `${head.to - count}`, '--json'])
    if (answer.to !== head.to - count) throw new Error(`rewound to block ${answer.to}`)
    return seconds
  }
  for (const megabytes of [ample, scarce]) {
    const seconds = await rewind()
    if (megabytes === ample) figure(`rewind of ${count} blocks`, seconds, 's')
    const { command, remove, reason } = limitMemory(megabytes)
    if (reason !== undefined) say(`memory cannot be limited: ${reason}`)
    const result = await importBlocks(node, { file, blocks: count, hash, limit: command })
    remove?.()
    const name = `import of the last ${count} blocks with ${command === undefined ? 'any memory' : `${megabytes} MB`}`
    if (result.failure !== undefined) {
      figure(name, 0, `failed: ${result.failure}`)
      await importAgain(node, file, count, hash)
    } else figure(name, result.seconds, 's')
    if (command === undefined) break
  }
  await rewind()
  await importBlocks(node, { file, blocks: count, hash, killAfter: Math.floor(count / 2) })
  const { seconds } = await timedStart(node, head.to - count + 1, head.to)
  figure('start after kill -9 during an import', seconds, 's')
  await importAgain(node, file, count, hash)
}

/** Imports blocks of which some are stored already. */
async function importAgain(node, file, blocks, hash) {
  const { failure } = await importBlocks(node, { file, blocks, hash })
  if (failure !== undefined) throw new Error(`the import after a kill: ${failure}`)
}

/** Starts the node, asks for its head, which must be from `least` to `most`, and stops it. */
async function timedStart(node, least, most = least) {
  const began = performance.now()
  const target = await startRhizome({ program: node.program, flags: [...node.flags, '--mining', 'off'] })
  const head = Number(await call(target.url, 'eth_blockNumber'))
  const seconds = (performance.now() - began) / 1000
  const signalled = performance.now()
  await target.stop()
  if (head < least || head > most) throw new Error(`the head is ${head}, not from ${least} to ${most}`)
  return { seconds, stopSeconds: (performance.now() - signalled) / 1000 }
}

async function verify(node, head, figure, say) {
  say(`verifying ${verified} blocks`)
  const flags = ['verify', '--from', `${head - verified + 1}`, '--to', `${head}`, '--json']
  const { seconds, answer } = await runCommand(node, flags, verifyLimitMs)
  const name = `verify of the last ${verified} blocks`
  if (answer === undefined) return figure(`${name}, not finished after`, seconds, 's')
  if (answer.difference !== null) throw new Error(`verify: ${JSON.stringify(answer)}`)
  figure(name, seconds, 's')
}

/** Runs a command of the node to its end. Returns its time and its JSON, no JSON if it was stopped. */
async function runCommand(node, [name, ...flags], limitMs = 3_600_000) {
  const began = performance.now()
  const parameters = [node.program, name, ...node.flags, ...flags]
  const child = spawn(process.execPath, parameters, { stdio: ['ignore', 'pipe', 'pipe'] })
  let [output, errors, isStopped] = ['', '', false]
  child.stdout.on('data', (bytes) => {
    output += bytes
  })
  child.stderr.on('data', (bytes) => {
    errors = `${errors}${bytes}`.slice(-1000)
  })
  const timer = setTimeout(() => {
    isStopped = true
    child.kill('SIGKILL')
  }, limitMs)
  const code = await new Promise((resolve) => child.once('close', resolve))
  clearTimeout(timer)
  const seconds = (performance.now() - began) / 1000
  if (isStopped) return { seconds }
  if (code !== 0) throw new Error(`${name} failed: ${errors}`)
  return { seconds, answer: JSON.parse(output) }
}
