import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compareRanks } from '../bench/keys/keys.mjs'
import { writeReport } from '../bench/report/report.mjs'
import { compare } from '../bench/rpc/compare.mjs'
import { buildDriver, drive, Plan } from '../bench/rpc/driver.mjs'
import { startCeiling } from '../bench/targets/ceiling.mjs'

const program = fileURLToPath(new URL('./bench.mjs', import.meta.url))
const timeout = 400_000
const pace = { name: 'quick', rounds: 2, timeMs: 100, connections: 4 }

async function bench(...parameters) {
  const file = join(mkdtempSync(join(tmpdir(), 'rhizome-test-')), 'bench.json')
  await promisify(execFile)(process.execPath, [program, '--json', file, ...parameters]).catch(({ stdout, stderr }) => {
    throw new Error(`the benchmarks failed: ${stdout}${stderr}`)
  })
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** A server that answers every request with its number of requests so far, and sometimes spoils an answer. */
function startServer(spoil) {
  let count = 0
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (bytes) => {
      body += bytes
    })
    request.on('end', () => {
      const answer = spoil(JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(body).id, result: '0x21' }), ++count)
      if (answer === undefined) response.destroy()
      else response.end(answer)
    })
  })
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)))
}

const workload = {
  name: 'eth_chainId',
  requests: () => [{ method: 'eth_chainId', params: [], check: (result) => result === '0x21' }],
}

beforeAll(() => buildDriver(), timeout)

describe('what a target answers', () => {
  let server
  afterAll(() => server.close())

  async function measure(spoil) {
    server?.close()
    server = await startServer(spoil)
    const url = `http://127.0.0.1:${server.address().port}`
    const row = await compare(workload, [{ target: { name: 'server', url }, chain: {} }], pace)
    return row.results.server
  }

  test('behavior: right answers have a speed', async () => {
    expect((await measure((answer) => answer)).rate).toBeGreaterThan(0)
  })

  test.each([
    ['another result', (answer, count) => (count % 20 === 0 ? answer.replace('0x21', '0x22') : answer), /wrong/],
    [
      'the id of somebody else',
      (answer, count) => (count % 20 === 0 ? answer.replace(/\d{9}/, '123456789') : answer),
      /wrong/,
    ],
    ['no answer', (answer, count) => (count % 20 === 0 ? undefined : answer), /closed the connection/],
    ['always another result', (answer) => answer.replace('0x21', '0x22'), /wrong result "0x22"/],
  ])('error: %s is a failure, not a speed', async (_name, spoil, reason) => {
    const measured = await measure(spoil)
    expect(measured.rate).toBeUndefined()
    expect(measured.failed).toMatch(reason)
  })

  test('error: a method that a target does not have is not served', async () => {
    const missing = '{"jsonrpc":"2.0","id":987654321,"error":{"code":-32601,"message":"method not found"}}'
    const measured = await measure(() => missing)
    expect(measured).toEqual({ notServed: 'method not found (-32601)' })
  })
})

describe('the load generator', () => {
  const answer = '{"jsonrpc":"2.0","id":@@@@@@@@@,"result":"0x21"}'
  const plan = new Plan([{ request: '{"jsonrpc":"2.0","id":@@@@@@@@@,"method":"eth_chainId","params":[]}', answer }])
  afterAll(() => plan.remove())

  async function run(serve, options) {
    const server = createServer((request, response) => {
      let body = ''
      request.on('data', (bytes) => {
        body += bytes
      })
      request.on('end', () => serve(response, answer.replace('@@@@@@@@@', JSON.parse(body).id)))
    })
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      return await drive(`http://127.0.0.1:${server.address().port}`, plan, { connections: 3, timeMs: 200, ...options })
    } finally {
      server.closeAllConnections()
      server.close()
    }
  }

  test('behavior: answers in pieces are put together', async () => {
    const inPieces = (response, text) => {
      response.write(text.slice(0, 20))
      setTimeout(() => response.end(text.slice(20)), 1)
    }
    const { right, wrong, lost } = await run(inPieces)
    expect([right > 0, wrong, lost]).toEqual([true, 0, 0])
  })

  test('behavior: a plan that is sent once ends with its last request', async () => {
    expect(await run((response, text) => response.end(text), { isOnce: true, timeMs: 60_000 })).toMatchObject({
      right: 1,
    })
  })

  test('behavior: pauses are kept', async () => {
    const { right } = await run((response, text) => response.end(text), { pauseMs: 1000, timeMs: 900 })
    expect(right).toBeLessThanOrEqual(3)
  })

  test('error: an answer that never comes is lost', async () => {
    const { right, lost, fault } = await run(() => undefined, { patienceMs: 100 })
    expect([right, lost >= 3, fault]).toEqual([0, true, 'no answer within 100 ms'])
  })

  test('error: another status is wrong', async () => {
    const refuse = (response, text) => {
      response.statusCode = 500
      response.end(text)
    }
    const { right, wrong } = await run(refuse)
    expect([right, wrong > 0]).toEqual([0, true])
  })

  test('error: more than was asked for is no answer', async () => {
    const both = (response, text) =>
      response.socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}HTTP/1.1`)
    const { right, wrong, fault } = await run(both)
    expect([right, wrong > 0, fault]).toEqual([0, true, 'bytes after the answer'])
  })
})

test('behavior: the ceiling answers with the size of the model', async () => {
  const ceiling = await startCeiling({ workers: 2 })
  const server = await startServer((answer) => answer)
  try {
    const url = `http://127.0.0.1:${server.address().port}`
    const contenders = [{ target: ceiling }, { target: { name: 'server', url }, chain: {} }]
    const { results } = await compare(workload, contenders, pace)
    expect(results.ceiling.rate).toBeGreaterThan(0)
  } finally {
    server.close()
    await ceiling.stop()
  }
})

test(
  'behavior: the comparison serves every kind of workload',
  async () => {
    const wanted = [
      'eth_chainId',
      'eth_call',
      'batch of 20',
      'eth_sendRawTransaction',
      'WebSocket, heads for 1,000 subscribers',
    ]
    const { comparison } = await bench(
      '--quick',
      '--targets',
      'rhizome,ceiling',
      ...wanted.flatMap((name) => ['--only', name]),
    )
    expect(comparison.rows.map(({ name }) => name)).toEqual([
      'eth_chainId',
      'eth_call, balanceOf',
      'eth_call, 1,000 rounds of Keccak',
      'batch of 20',
      'WebSocket, heads for 1,000 subscribers',
      'eth_sendRawTransaction',
    ])
    for (const { name, results } of comparison.rows) expect(results.rhizome.rate, name).toBeGreaterThan(0)
  },
  timeout,
)

test(
  'behavior: under a mixed load no answer is lost or crossed, and memory stays bounded',
  async () => {
    const { results } = await bench('--quick', '--only', 'soak', '--minutes', '0.1')
    const lost = results.filter(({ name }) => name.endsWith('wrong, crossed or lost'))
    expect(lost.map(({ value }) => value)).toEqual([0, 0, 0])
    const memory = results.find(({ name }) => name === 'memory at the end')
    expect(memory.value).toBeLessThan(1024)
  },
  timeout,
)

test.each([
  [[1, 2, 3], [4, 5, 6], 0],
  [[4, 5, 6], [1, 2, 3], 1],
  [[1, 2, 3], [1, 2, 3], 0.5],
  [[2, 2], [1, 3], 0.5],
])('behavior: ranks of %j above %j', (one, other, share) => {
  expect(compareRanks(one, other).share).toBe(share)
})

test('behavior: the document shows speeds, bars that are met or not, and what could not be measured', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rhizome-test-'))
  const speed = (rate) => ({ rate, rates: [rate, rate], p50: 10, p99: 20, processorMicros: 5 })
  const results = { rhizome: speed(90), ceiling: speed(100), anvil: speed(30), geth: { failed: 'wrong & <lost>' } }
  const comparison = { rows: [{ name: 'eth_chainId', bar: 0.85, results }], absent: { reth: 'no network' } }
  const machine = {
    at: '2030-01-01T00:00:00Z',
    processors: 2,
    model: 'a processor',
    memoryGib: 8,
    system: 'linux',
    node: 'v20',
  }
  writeReport(join(folder, 'b.md'), { machine, comparison, results: [] })
  const text = readFileSync(join(folder, 'b.md'), 'utf8')
  expect(text).toContain('| eth_chainId | 90 | 100 | 30 | failed | 0.90 | 3.0 x anvil |')
  expect(text).toContain('| eth_chainId | 0.85 of the ceiling | 0.90 | 1.00 | yes |')
  expect(text).toContain('* geth, eth_chainId: wrong & <lost>')
  expect(text).toContain('* reth: left out: no network')
  const plot = readFileSync(join(folder, 'b', 'speed.svg'), 'utf8')
  expect(plot.match(/<rect/g)).toHaveLength(6)
  expect(plot).toContain('prefers-color-scheme: dark')
})
