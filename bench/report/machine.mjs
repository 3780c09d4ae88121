// The machine of a run, without names that identify it.
import { readFileSync } from 'node:fs'
import { availableParallelism, cpus, totalmem } from 'node:os'

export function machine() {
  return {
    processors: availableParallelism(),
    model: cpus()[0]?.model.trim() ?? '',
    memoryGib: Math.round(totalmem() / 2 ** 30),
    system: `${process.platform} ${process.arch}`,
    node: process.version,
    rhizome: JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version,
    at: new Date().toISOString(),
  }
}
