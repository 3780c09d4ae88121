// Whether the time of a rejection reveals a part of a key: keys with the same start as a valid key against unrelated keys, in
// random order over one connection. All requests are built before the measurement.
import { execFileSync } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { median } from '../rpc/compare.mjs'
import { startRhizome } from '../targets/rhizome.mjs'

const program = fileURLToPath(new URL('../../ts/rhizome.mjs', import.meta.url))
/** Wrong end of a key with a correct start. */
const wrongLetters = 10
const pairs = { thorough: 20_000, quick: 2000 }
/** Limit of a standard normal variable, exceeded by chance once in 16,000 runs. */
const mostZ = 4

export async function run(report, { isQuick = false }) {
  const folder = mkdtempSync(join(tmpdir(), 'rhizome-keys-'))
  const dataDir = join(folder, 'data')
  const flags = ['keys', 'create', 'app', '--data-dir', dataDir, '--json']
  const { key } = JSON.parse(execFileSync(process.execPath, [program, ...flags], { encoding: 'utf8' }))
  const node = await startRhizome({ workers: 1, flags: ['--data-dir', dataDir] })
  const client = await RefusedClient.open(new URL(node.url).port)
  try {
    const times = { near: [], far: [] }
    const count = isQuick ? pairs.quick : pairs.thorough
    const far = Array.from({ length: count + 500 }, () => requestWith(randomKey()))
    const near = Array.from({ length: count }, () =>
      requestWith(key.slice(0, -wrongLetters) + randomKey().slice(-wrongLetters)),
    )
    for (const request of far.splice(count)) await client.time(request)
    for (let index = 0; index < count; index++) {
      const isNearFirst = randomInt(2) === 0
      if (isNearFirst) times.near.push(await client.time(near[index]))
      times.far.push(await client.time(far[index]))
      if (!isNearFirst) times.near.push(await client.time(near[index]))
    }
    const { share, z } = compareRanks(times.near, times.far)
    report({ name: 'refusal of a key that begins right', value: median(times.near), unit: 'µs, median' })
    report({ name: 'refusal of a key that is all wrong', value: median(times.far), unit: 'µs, median' })
    report({
      name: 'share of pairs in which the one that begins right took longer',
      value: share * 100,
      unit: '% (50 %: no difference)',
    })
    const isFailure = Math.abs(z) > mostZ
    const statement = isFailure ? 'they differ' : 'no difference found'
    report({
      name: 'Mann-Whitney z',
      value: z,
      unit: `(beyond ±${mostZ}: they differ), ${count} refusals each: ${statement}`,
      isFailure,
    })
  } finally {
    client.close()
    await node.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

function randomKey() {
  return `rz_${randomBytes(32).toString('base64url')}`
}

function requestWith(key) {
  const body = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}'
  const headers = `Host: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`
  return Buffer.from(`POST /${key} HTTP/1.1\r\n${headers}\r\n\r\n${body}`)
}

/** Share of pairs in which the value of the first list is larger (half for equal values), and its distance from chance. */
export function compareRanks(one, other) {
  const all = [...one.map((value) => [value, 1]), ...other.map((value) => [value, 0])].sort(([a], [b]) => a - b)
  let ranks = 0
  for (let from = 0; from < all.length; ) {
    let to = from
    while (to < all.length && all[to][0] === all[from][0]) to++
    // Equal values share their mean rank.
    for (let index = from; index < to; index++) if (all[index][1] === 1) ranks += (from + to + 1) / 2
    from = to
  }
  const [n, m] = [one.length, other.length]
  const above = ranks - (n * (n + 1)) / 2
  return { share: above / (n * m), z: (above - (n * m) / 2) / Math.sqrt((n * m * (n + m + 1)) / 12) }
}

/** A connection whose requests are all rejected. */
class RefusedClient {
  #socket
  #text = ''
  #done = () => undefined

  static open(port) {
    const client = new RefusedClient()
    return new Promise((resolve, reject) => {
      client.#socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(client))
      client.#socket.on('error', reject)
      client.#socket.on('data', (bytes) => {
        client.#text += bytes.toString('latin1')
        const head = client.#text.indexOf('\r\n\r\n')
        const length = Number(/content-length: (\d+)/i.exec(client.#text)?.[1])
        if (head !== -1 && client.#text.length >= head + 4 + length) client.#done()
      })
    })
  }

  /** Microseconds from a request to its rejection. */
  async time(request) {
    this.#text = ''
    const refused = new Promise((resolve) => {
      this.#done = resolve
    })
    const began = process.hrtime.bigint()
    this.#socket.write(request)
    await refused
    const elapsed = Number(process.hrtime.bigint() - began) / 1000
    if (!this.#text.startsWith('HTTP/1.1 401'))
      throw new Error(`a wrong key was answered with ${this.#text.slice(0, 40)}`)
    return elapsed
  }

  close() {
    this.#socket.destroy()
  }
}
