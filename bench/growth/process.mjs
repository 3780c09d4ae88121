// Processor time, bytes read and written, and memory of a running process on Linux, by thread.
import { readdirSync, readFileSync } from 'node:fs'

/** Threads that compact and flush the database or merge its other files. All others are the foreground. */
const background = /^(rocksdb|node-files|node-index|store-)/
/** A shorter-lived thread may be missed; its time then counts as foreground. */
const intervalMs = 100
const tickMs = 10

/** Samples a process until `stop`, because threads that have ended are no longer listed. */
export class ProcessMeter {
  #pid
  #threads = new Map()
  #timer
  #last
  /** Resident memory at its highest, in KiB. */
  peakKib = 0

  constructor(pid) {
    this.#pid = pid
    this.#timer = setInterval(() => this.sample(), intervalMs)
  }

  stop() {
    clearInterval(this.#timer)
  }

  /**
   * Returns totals since the start of the process, the last ones if it has ended. `processorMs`, `readBytes` and `writtenBytes`
   * (by system calls) are of the foreground, the same names in `background` of the background. Bytes read from the device, and
   * written to it, are those of the whole process.
   */
  sample() {
    const stat = read(`/proc/${this.#pid}/stat`)
    const io = read(`/proc/${this.#pid}/io`)
    const status = read(`/proc/${this.#pid}/status`)
    // A process that has ended but was not waited for has no memory.
    if (stat === undefined || io === undefined || !/VmRSS/.test(status ?? '')) return this.#last
    this.#sampleThreads()
    const total = { processorMs: processorMs(stat), ...bytesOf(io) }
    const behind = { processorMs: 0, readBytes: 0, writtenBytes: 0 }
    for (const thread of this.#threads.values()) for (const name of Object.keys(behind)) behind[name] += thread[name]
    this.peakKib = kib(status, 'VmHWM')
    this.#last = {
      processorMs: total.processorMs - behind.processorMs,
      readBytes: total.readBytes - behind.readBytes,
      writtenBytes: total.writtenBytes - behind.writtenBytes,
      background: behind,
      deviceReadBytes: total.deviceReadBytes,
      deviceWrittenBytes: total.deviceWrittenBytes,
      memoryKib: kib(status, 'VmRSS'),
      anonymousKib: kib(status, 'RssAnon'),
    }
    return this.#last
  }

  #sampleThreads() {
    let ids = []
    try {
      ids = readdirSync(`/proc/${this.#pid}/task`)
    } catch {
      // It ended meanwhile.
    }
    for (const id of ids) {
      const folder = `/proc/${this.#pid}/task/${id}`
      const name = read(`${folder}/comm`)?.trim()
      if (name === undefined || !background.test(name)) continue
      const [stat, io] = [read(`${folder}/stat`), read(`${folder}/io`)]
      // A thread id may be used again, but not within one sampled process of this length.
      if (stat !== undefined && io !== undefined)
        this.#threads.set(id, { processorMs: processorMs(stat), ...bytesOf(io) })
    }
  }
}

/** Returns `later` minus `earlier`; the memory is that of `later`. */
export function difference(later, earlier) {
  const entries = Object.entries(later).map(([name, value]) => {
    if (name === 'background') return [name, difference(value, earlier.background)]
    return [name, /Kib$/.test(name) ? value : value - earlier[name]]
  })
  return Object.fromEntries(entries)
}

function processorMs(stat) {
  const fields = stat.replace(/^.*\) /s, '').split(' ')
  return (Number(fields[11]) + Number(fields[12])) * tickMs
}

function bytesOf(io) {
  const field = (name) => Number(new RegExp(`^${name}: (\\d+)`, 'm').exec(io)?.[1] ?? Number.NaN)
  return {
    readBytes: field('rchar'),
    writtenBytes: field('wchar'),
    deviceReadBytes: field('read_bytes'),
    deviceWrittenBytes: field('write_bytes'),
  }
}

function kib(status, name) {
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? Number.NaN)
}

function read(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
