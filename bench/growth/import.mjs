// One import of a part of the chain by a separate process, measured while it runs.
import { spawn } from 'node:child_process'
import { createReadStream, createWriteStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { difference, ProcessMeter } from './process.mjs'

/**
 * Imports a file of blocks and checks that the last one is `hash`. `blocks` is the number of its lines, the last `window` of
 * which are measured apart. `node.settings` are variables of its environment, `limit` words before the command. `killAfter`: number of blocks after which the process is killed.
 * Returns `{ total, window, seconds, windowSeconds, endSeconds, peakKib }`; `failure` instead if the process was killed.
 */
export async function importBlocks(node, { file, blocks, hash, window = blocks, limit = [], killAfter }) {
  const command = [...limit, process.execPath, node.program, 'import', ...node.flags, '--json', file]
  const child = spawn(command[0], command.slice(1), {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...node.settings },
  })
  const ended = new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal })))
  const meter = new ProcessMeter(child.pid)
  const marks = new Map()
  const mark = (name) => marks.has(name) || marks.set(name, { at: performance.now(), sample: meter.sample() })
  let [lines, end, errors] = [0, '', '']
  child.stderr.on('data', (bytes) => {
    errors = `${errors}${bytes}`.slice(-1000)
  })
  child.stdout.on('data', (bytes) => {
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines++
    end = `${end}${bytes}`.slice(-1000)
    mark('first')
    if (lines >= blocks - window) mark('window')
    if (lines >= blocks) mark('last')
    if (lines >= killAfter) child.kill('SIGKILL')
  })
  const { code, signal } = await ended
  meter.stop()
  const closedAt = performance.now()
  if (killAfter !== undefined) return { lines }
  if (signal !== null) return { failure: `killed by ${signal} after ${lines} blocks`, peakKib: meter.peakKib }
  if (code !== 0) throw new Error(`the import failed: ${errors}`)
  const lastLine = JSON.parse(end.trim().split('\n').at(-1))
  if (lines !== blocks || lastLine.hash !== hash)
    throw new Error(`the import ended at ${lastLine.hash} after ${lines} blocks, not at ${hash} after ${blocks}`)
  const [first, start, last] = ['first', 'window', 'last'].map((name) => marks.get(name))
  return {
    total: last.sample,
    window: difference(last.sample, start.sample),
    seconds: (last.at - first.at) / 1000,
    windowSeconds: (last.at - start.at) / 1000,
    endSeconds: (closedAt - last.at) / 1000,
    peakKib: meter.peakKib,
  }
}

/** Writes some lines of files, from `skip` on, into another file. Returns the hash of the last block. */
export async function copyLines(files, skip, count, target) {
  const output = createWriteStream(target)
  let [index, hash] = [0, undefined]
  for (const file of files) {
    for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
      if (index >= skip && index < skip + count) {
        output.write(`${line}\n`)
        hash = `0x${line.split(',', 2)[1]}`
      }
      index++
    }
  }
  await new Promise((resolve) => output.end(resolve))
  return hash
}
