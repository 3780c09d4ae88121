import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { diskByKind, diskBytes } from '../bench/growth/disk.mjs'
import { ProcessMeter } from '../bench/growth/process.mjs'
import { compareRanks } from '../bench/keys/keys.mjs'
import { pairLine, pairOf } from '../bench/pairs/ratio.mjs'
import { canProfile, profileCommand, readProfile } from '../bench/profile/profile.mjs'
import { rowBars } from '../bench/report/bars.mjs'
import { growthBars, growthTable } from '../bench/report/growth.mjs'
import { writeReport } from '../bench/report/report.mjs'
import { compare } from '../bench/rpc/compare.mjs'
import { buildDriver, drive, driveSubscribers, Plan } from '../bench/rpc/driver.mjs'
import { learn } from '../bench/rpc/learn.mjs'
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

/** Starts a server; `spoil` receives each right answer with its number and returns the answer to send. */
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

describe('answers of a target', () => {
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
      'the id of another request',
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

  test('behavior: answers in several chunks are joined', async () => {
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

  test('error: a missing answer is lost', async () => {
    const { right, lost, fault } = await run(() => undefined, { timeoutMs: 100 })
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

  test('error: bytes after an answer are invalid', async () => {
    const both = (response, text) =>
      response.socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}HTTP/1.1`)
    const { right, wrong, fault } = await run(both)
    expect([right, wrong > 0, fault]).toEqual([0, true, 'bytes after the answer'])
  })
})

/** Serves WebSockets while `measure` runs; `serve` receives the socket, the message, and its number on the socket. */
async function withSockets(serve, measure) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', path: '/path' })
  server.on('connection', (socket) => {
    let count = 0
    socket.on('message', (text) => serve(socket, JSON.parse(text), ++count))
  })
  await new Promise((resolve) => server.once('listening', resolve))
  try {
    return await measure(`ws://127.0.0.1:${server.address().port}/path`, server)
  } finally {
    for (const socket of server.clients) socket.terminate()
    server.close()
  }
}

describe('the load generator over WebSocket', () => {
  // One size for each of the three forms of a length.
  const sizes = [1, 1000, 100_000]
  const answerTo = ({ id, params: [size] }) => JSON.stringify({ jsonrpc: '2.0', id, result: 'x'.repeat(size) })
  const requests = sizes.map((size) => ({
    method: 'eth_chainId',
    params: [size],
    check: (result) => result.length === size,
  }))

  const run = (serve, options) =>
    withSockets(serve, async (url) => {
      const honest = (socket, asked) => socket.send(answerTo(asked))
      const plan = new Plan(await withSockets(honest, (learned) => learn(learned, requests)))
      try {
        return await drive(url, plan, { connections: 3, timeMs: 200, ...options })
      } finally {
        plan.remove()
      }
    })

  test('behavior: right answers of any length, in frames of any number, with pings between them', async () => {
    const inPieces = (socket, asked, count) => {
      const text = answerTo(asked)
      if (count % 2 === 0) {
        socket.send(text)
        socket.ping('!')
        return
      }
      socket.send(text.slice(0, 20), { fin: false })
      socket.ping()
      socket.send(text.slice(20, 30), { fin: false })
      socket.send(text.slice(30))
    }
    const { right, wrong, lost, fault } = await run(inPieces)
    expect([right > 0, wrong, lost, fault]).toEqual([true, 0, 0, null])
  })

  test('behavior: pings are answered', async () => {
    const pongs = []
    const afterPong = (socket, asked) => {
      socket.once('pong', (payload) => {
        pongs.push(payload.toString())
        socket.send(answerTo(asked))
      })
      socket.ping('hello')
    }
    const { right, wrong, lost } = await run(afterPong, { isOnce: true })
    expect([right, wrong, lost, pongs]).toEqual([3, 0, 0, ['hello', 'hello', 'hello']])
  })

  test.each([
    [
      'the id of another request',
      (socket, asked) => socket.send(answerTo({ ...asked, id: 123_456_789 })),
      /expected 200/,
    ],
    ['an end', (socket) => socket.close(1001, 'bye'), /^the server closed the connection: 1001 bye$/],
    ['a broken connection', (socket) => socket.terminate(), /closed the connection|reset/],
    ['bytes', (socket, asked) => socket.send(Buffer.from(answerTo(asked))), /opcode 2/],
  ])('error: %s is a failure', async (_name, spoil, reason) => {
    const spoiled = (socket, asked, count) => (count % 5 === 0 ? spoil(socket, asked) : socket.send(answerTo(asked)))
    const { right, wrong, lost, fault } = await run(spoiled)
    expect(right).toBeGreaterThan(0)
    expect(wrong + lost).toBeGreaterThan(0)
    expect(fault).toMatch(reason)
  })

  test('error: an answer without a request is wrong', async () => {
    const twice = (socket, asked) => {
      socket.send(answerTo(asked))
      socket.send(answerTo(asked))
    }
    const { wrong, fault } = await run(twice)
    expect(wrong).toBeGreaterThan(0)
    expect(fault).toMatch(/without a request|expected 200/)
  })

  test('error: a missing answer is lost', async () => {
    const { right, lost, fault } = await run(() => undefined, { timeoutMs: 100 })
    expect([right, lost >= 3, fault]).toEqual([0, true, 'no answer within 100 ms'])
  })

  test('error: a server without WebSocket', async () => {
    const server = createServer((_request, response) => response.end())
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
    const plan = new Plan([{ request: '@@@@@@@@@', answer: '@@@@@@@@@' }])
    try {
      const url = `ws://127.0.0.1:${server.address().port}`
      await expect(learn(url, requests)).rejects.toThrow('Unexpected server response: 200')
      const { right, wrong, fault } = await drive(url, plan, { timeMs: 200 })
      expect([right, wrong > 0, fault]).toEqual([0, true, 'the handshake was answered with status 200'])
    } finally {
      plan.remove()
      server.closeAllConnections()
      server.close()
    }
  })
})

describe('the subscribers of the load generator', () => {
  const connections = 20
  const head = (id, block) => {
    const hash = `0x${block.toString(16).padStart(64, '0')}`
    return JSON.stringify({ method: 'eth_subscription', params: { subscription: id, result: { hash, number: block } } })
  }

  /** `notify` receives the subscribers in the order of their subscription, and the number of the block. */
  const run = (notify) => {
    const subscribers = []
    const subscribe = (socket, { id, method, params }) => {
      expect([method, params]).toEqual(['eth_subscribe', ['newHeads']])
      // Ids of several lengths, as on some nodes.
      const subscription = `0x${(7 ** subscribers.length).toString(16)}`
      subscribers.push({ socket, id: subscription, notify: (block) => socket.send(head(subscription, block)) })
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: subscription }))
    }
    let block = 0
    const trigger = async () => notify(subscribers, ++block)
    return withSockets(subscribe, (url) => driveSubscribers(url, trigger, { connections, blocks: 3, timeoutMs: 500 }))
  }

  test('behavior: all subscribers receive every head', async () => {
    const { right, wrong, lost, fault, p50, p99, seconds } = await run((subscribers, block) => {
      for (const one of subscribers) one.notify(block)
    })
    expect([right, wrong, lost, fault]).toEqual([3 * connections, 0, 0, null])
    expect(p50 > 0 && p99 >= p50 && seconds * 1e6 >= p99).toBe(true)
  })

  test.each([
    [
      'receives the head of another subscription',
      ([, one, other], block) => one.socket.send(head(other.id, block)),
      1,
      0,
    ],
    ['receives the head of another block', ([, one], block) => one.notify(block + 10), 1, 0],
    ['receives a head twice', ([, one], block) => [one.notify(block), one.notify(block)], 1, 0],
    ['receives no head', () => undefined, 0, 2],
    ['receives a head too late', ([, one], block) => setTimeout(() => one.notify(block), 800), 0, 2],
    ['is disconnected', ([, one]) => one.socket.terminate(), 0, 2],
  ])('error: a subscriber %s', async (_name, spoil, wrongs, losses) => {
    const { right, wrong, lost, fault } = await run((subscribers, block) => {
      for (const [index, one] of subscribers.entries()) if (index !== 1 || block !== 2) one.notify(block)
      if (block === 2) spoil(subscribers, block)
    })
    // A subscriber without a head is not measured any more.
    expect([right >= 3 * connections - 2, wrong, lost]).toEqual([true, wrongs, losses])
    expect(fault).toEqual(expect.any(String))
  })

  test('error: the head of the previous block is wrong, and is not counted for another block', async () => {
    const { right, wrong, lost } = await run((subscribers, block) => {
      for (const one of subscribers) one.notify(Math.min(block, 2))
    })
    expect([right, wrong, lost]).toEqual([2 * connections, connections, 0])
  })

  test('error: a message before the trigger is unexpected', async () => {
    const { right, wrong, fault } = await run(async (subscribers, block) => {
      for (const one of subscribers) one.notify(block)
      if (block !== 2) return
      // A second message after all heads; it arrives before the next line.
      await new Promise((resolve) => setTimeout(resolve, 20))
      subscribers[0].notify(block)
    })
    expect([right, wrong]).toEqual([3 * connections, 1])
    expect(fault).toMatch(/unexpected message/)
  })

  test('error: a subscription that is refused or never answered', async () => {
    const refuse = (socket, { id }) => socket.send(JSON.stringify({ id, error: { code: -32000, message: 'no' } }))
    const drivenBy = (serve) =>
      withSockets(serve, (url) => driveSubscribers(url, () => undefined, { connections, blocks: 1, timeoutMs: 200 }))
    await expect(drivenBy(refuse)).rejects.toThrow(/eth_subscribe: no subscription: .*-32000/)
    await expect(drivenBy(() => undefined)).rejects.toThrow(/eth_subscribe was not answered in time/)
  })

  test('error: a block that cannot be triggered', async () => {
    const failing = run(() => {
      throw new Error('no block')
    })
    await expect(failing).rejects.toThrow('no block')
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
      'WebSocket, eth_blockNumber',
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
      'WebSocket, eth_blockNumber',
      'WebSocket, heads for 1,000 subscribers',
      'eth_sendRawTransaction',
    ])
    for (const { name, results } of comparison.rows) expect(results.rhizome.rate, name).toBeGreaterThan(0)
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

test('behavior: a workload has the bars of the ceiling, of the best other and of the reference', () => {
  const speed = (rate) => ({ rate, rates: [rate, rate] })
  const results = { rhizome: speed(90), ceiling: speed(100), anvil: speed(30), rskj: speed(20) }
  const met = (row, reference) => rowBars(row, reference).map(({ wanted, got, isMet }) => [wanted, got, isMet])
  expect(met({ name: 'eth_chainId', bar: 0.85, results }, 'rskj')).toEqual([
    ['0.85 of the ceiling', '0.90', true],
    ['2 x the best other', '3.0 x anvil', true],
    ['5 x the reference', '4.5 x', false],
  ])
  expect(met({ name: 'light methods alone', isPaced: true, results }, 'rskj')).toEqual([])
})

test('behavior: two builds are compared round by round', () => {
  const own = { rates: [100, 90, 110], p50s: [10, 10, 10], processors: [5, 5, 5] }
  const other = { rates: [100, 100, 100], p50s: [11, 12, 13], processors: [10, 10, 10] }
  expect(pairOf(own, other, false)).toEqual({ ratio: 1, low: 1, high: 1.1, processor: 2 })
  // Paced workloads have a constant rate; their latency counts.
  expect(pairOf(own, other, true).ratio).toBeCloseTo(1.2)
  expect(pairLine({ name: 'x', ...pairOf(own, other, false), isSlower: true })).toMatch(
    /^x +speed 1\.000 x \(1\.000 to 1\.100\), processor time 0\.500 x +SLOWER$/,
  )
})

test('behavior: a profile is summed up by parts, threads and functions', () => {
  const text = [
    '# Overhead\tCommand\tShared Object\tSymbol',
    ' 40.00%\tnode\t[kernel.kallsyms]\t[k] tcp_ack',
    ' 20.00%\tnode\t[JIT] tid 7\t[.] 0x00007f0000000000',
    ' 10.00%\tnode\tnode\t[.] Builtins_LoadIC',
    ' 10.00%\trhizome-pool-0\trhizome.node\t[.] rhizome_trie::keys::code_key::h0123456789abcdef',
    '  5.00%\trhizome-pool-0\t[kernel.kallsyms]\t[k] tcp_ack',
    '',
  ].join('\n')
  const { parts, threads, functions } = readProfile(text)
  expect(parts.map(({ name, share }) => [name, share.toFixed(2)])).toEqual([
    ['kernel: sockets', '0.45'],
    ['JavaScript', '0.30'],
    ['trie', '0.10'],
  ])
  expect(threads.map(({ name }) => name)).toEqual(['node', 'rhizome-pool-0'])
  expect(functions[0].name).toBe('tcp_ack (kernel: sockets)')
  expect(functions.map(({ name }) => name)).toContain('rhizome_trie::keys::code_key (trie)')
})

test.runIf(canProfile())('behavior: a command is profiled', async () => {
  const { parts, functions } = await profileCommand(process.execPath, [
    '-e',
    'JSON.parse("[" + "1,".repeat(3e6) + "1]")',
  ])
  expect(parts.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 1)
  expect(parts.map(({ name }) => name)).toContain('JSON.parse')
  expect(functions.length).toBeGreaterThan(0)
})

test('behavior: the document shows speeds, bars that are met or not, and what could not be measured', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rhizome-test-'))
  const speed = (rate) => ({ rate, rates: [rate, rate], p50: 10, p99: 20, processorMicros: 5 })
  const results = { rhizome: speed(90), ceiling: speed(100), anvil: speed(30), geth: { failed: 'wrong & <lost>' } }
  const functions = [{ name: 'tcp_ack (kernel)', share: 0.05 }]
  const profile = (name, share) => ({ parts: [{ name, share }], functions, processorMicros: 5 })
  const profiles = { rhizome: profile('kernel: sockets', 0.5), anvil: profile('its program', 0.25) }
  const comparison = { rows: [{ name: 'eth_chainId', bar: 0.85, results, profiles }], absent: { reth: 'no network' } }
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
  // Half of five microseconds, and a quarter.
  expect(text).toContain('| kernel: sockets | 2.50 |  |\n| its program |  | 1.25 |')
  expect(text).toContain('`tcp_ack (kernel)` 5.0 %')
  expect(text).toContain('* reth: left out: no network')
  const plot = readFileSync(join(folder, 'b', 'speed.svg'), 'utf8')
  expect(plot.match(/<rect/g)).toHaveLength(6)
  expect(plot).toContain('prefers-color-scheme: dark')
})

describe('a growing state', () => {
  const figure = (size, name, value) => ({ benchmark: 'growth', size, figure: name, value, unit: 'ms' })
  const cost = (size, front, back) => [
    figure(size, 'block of 818 new entries, foreground processor time', front),
    figure(size, 'block of 818 new entries, background processor time', back),
  ]

  test('behavior: processor time at 5 M entries is compared with that at 0.2 M', () => {
    const bars = (front, back) => growthBars([...cost('0.2 M', 9, 1), ...cost('5 M', front, back)])
    expect(bars(10, 4)).toMatchObject([{ got: '1.40', isMet: true }])
    expect(bars(10, 5)).toMatchObject([{ got: '1.50', isMet: false }])
    expect(growthBars(cost('5 M', 10, 4))).toEqual([])
  })

  test('behavior: a limit, and a figure that could not be measured', () => {
    const proof = 'eth_getProof, 5,000 blocks back, warm, median'
    expect(growthBars([figure('5 M', proof, 2)])).toMatchObject([{ wanted: 'at most 2 ms', isMet: true }])
    expect(growthBars([figure('5 M', proof, 0)])).toMatchObject([{ isMet: false }])
    expect(growthBars([figure('1 M', proof, 2)])).toEqual([])
  })

  test('behavior: the table has two columns for each size', () => {
    const table = growthTable([figure('1 M', 'a new figure', 1.5), figure('5 M', 'a new figure', 200)])
    expect(table).toContain('| figure | unit | 1 M, before | 1 M | 5 M, before | 5 M |')
    expect(table).toContain('| a new figure | ms |  | 1.50 |  | 200 |')
  })

  test.runIf(process.platform === 'linux')('behavior: a process is sampled until its end', async () => {
    const child = execFile(process.execPath, [
      '-e',
      'Buffer.alloc(5e7, 1); const end = Date.now() + 400; while (Date.now() < end);',
    ])
    const meter = new ProcessMeter(child.pid)
    await once(child, 'close')
    meter.stop()
    expect(meter.sample().processorMs).toBeGreaterThan(100)
    expect(meter.sample().background).toEqual({ processorMs: 0, readBytes: 0, writtenBytes: 0 })
    expect(meter.peakKib).toBeGreaterThan(50_000)
  })

  test('behavior: disk is counted by column of the database', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rhizome-test-'))
    // As at the end of a table of RocksDB: the second key shares 22 bytes with the first.
    const properties = Buffer.from('\u0008\u0010\u0001column.family.id\u0003\u0016\u0004\u0004nameflat\n\u0008')
    writeFileSync(join(folder, '000001.sst'), Buffer.concat([Buffer.alloc(5000, 7), properties]))
    writeFileSync(join(folder, '000002.log'), Buffer.alloc(5000))
    expect(Object.keys(diskByKind(folder)).toSorted()).toEqual(['column flat', 'write-ahead log'])
    expect(diskBytes(folder)).toBe(16_384)
  })
})
