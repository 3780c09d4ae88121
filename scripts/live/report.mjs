// Lines of the checks of npm run live. A missed bar makes the exit code 1.

export function report(name, own, reference) {
  process.stdout.write(`${name}: ${own} (reference: ${reference})\n`)
}

export function atMost(name, ms, bar) {
  if (ms > bar) fail(name, `${inMs(ms)}, at most ${inMs(bar)} wanted`)
}

export function atLeast(name, blocksPerSecond, bar) {
  if (blocksPerSecond < bar) fail(name, `${blocksPerSecond.toFixed(1)} blocks/s, at least ${bar} wanted`)
}

export function fail(name, text) {
  process.stdout.write(`MISS ${name}: ${text}\n`)
  process.exitCode = 1
}

export function inSeconds({ ms }) {
  return `${(ms / 1000).toFixed(1)} s`
}

export function inMs(ms) {
  return `${ms.toFixed(0)} ms`
}
