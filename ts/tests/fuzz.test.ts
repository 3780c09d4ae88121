import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Random } from '../src/compare/random.ts'
import { notOffered, table } from '../src/methods/table.ts'
import { bodyText } from '../src/rpc/bodyText.ts'
import { writeResult } from '../src/rpc/envelope.ts'
import { maxParsedBytes } from '../src/rpc/largeBody.ts'
import { wholeMessage } from '../src/rpc/longAnswer.ts'
import { MemoryBudget, sharedCounters } from '../src/rpc/memoryBudget.ts'
import { RequestContext } from '../src/rpc/requestContext.ts'
import { BodyServer } from '../src/rpc/serve.ts'
import { heapBody } from './heapBody.ts'
import { NodeProcess } from './node.ts'
import { Client, shakenHands } from './webSocket.ts'

/** The settings of the Rust tests with random input (npm run fuzz). */
const cases = Number(process.env.PROPTEST_CASES ?? 256)
const seed = Number(process.env.PROPTEST_RNG_SEED ?? 1)
/** Duration that replaces the number of cases; 0: absent. */
const fuzzMs = 1000 * Number(process.env.FUZZ_SECONDS ?? 0)

const batchSize = 25
const slowestMs = 5000

const who = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const contracts = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => `0x${number.toString(16).padStart(40, '0')}`)
const natives = ['06', '08', '09', '10', '11', '16', '17'].map((end) => `0x${'0'.repeat(32)}010000${end}`)
const tags = ['latest', 'earliest', 'pending', 'safe', 'finalized', '']
const keys = [
  'from to gas gasPrice value data input nonce chainId type maxFeePerGas accessList',
  'fromBlock toBlock address topics blockHash blockNumber requireCanonical',
  '__proto__ constructor toString length',
]
  .join(' ')
  .split(' ')

/** Returns a random value, more often a meaningful value. */
function value(random: Random, depth = 0): unknown {
  switch (random.below(depth > 3 ? 9 : 13)) {
    case 0:
      return random.pick([who, ...contracts, ...natives])
    case 1:
      return random.pick(tags)
    case 2:
      return `0x${random.next().toString(16)}`
    case 3:
      return random.hex(32)
    case 4:
      return random.hex(random.below(140))
    case 5:
      return random.pick([
        '0x',
        '0X1',
        '0x0',
        '-1',
        '0x-1',
        '1e3',
        `0x${'f'.repeat(64)}`,
        `0x1${'0'.repeat(64)}`,
        '١',
        ' ',
      ])
    case 6:
      return random.pick([null, true, false, 0, 1, -1, 0.5, 1e21, 2 ** 53, Number.MAX_VALUE])
    case 7:
      return String.fromCharCode(...Array.from({ length: random.below(20) }, () => random.below(0x10000)))
    case 8:
      return random.hex(20)
    case 9:
      return Array.from({ length: random.below(5) }, () => value(random, depth + 1))
    default: {
      const names = Array.from({ length: random.below(6) }, () => random.pick(keys))
      return Object.fromEntries(names.map((name) => [name, value(random, depth + 1)]))
    }
  }
}

/** Returns a value that the parameter usually accepts. */
function fitting(random: Random, name: string): unknown {
  switch (name) {
    case 'address':
    case 'from':
    case 'to':
      return random.pick([who, ...contracts, ...natives])
    case 'block':
    case 'fromBlock':
    case 'toBlock':
      return random.pick([...tags, '0x0', '0x1', `0x${random.below(40).toString(16)}`, { blockNumber: '0x1' }])
    case 'call':
    case 'transaction':
      return fittingObject(random, ['from', 'to', 'gas', 'gasPrice', 'value', 'data', 'nonce'])
    case 'filter':
      return fittingObject(random, ['fromBlock', 'toBlock', 'address', 'topics'])
    case 'topics':
      return Array.from({ length: random.below(5) }, () => random.pick([null, random.hex(32), [random.hex(32)]]))
    case 'data':
    case 'input':
      return random.hex(random.below(220))
    case 'full':
      return random.below(2) === 0
    default:
      return random.pick([`0x${random.below(300).toString(16)}`, `0x${random.next().toString(16)}`, random.hex(32)])
  }
}

function fittingObject(random: Random, names: readonly string[]): unknown {
  const present = names.filter(() => random.below(2) === 0)
  return Object.fromEntries(
    present.map((name) => [name, random.below(8) === 0 ? value(random, 2) : fitting(random, name)]),
  )
}

/** Returns valid parameters with one or all replaced by random values, sometimes too few or too many. */
function request(random: Random, id: number): string {
  const row = random.pick(table)
  const known = [row.name, row.alias ?? []].flat()
  const unknown = [...notOffered.map(([name]) => name), 'x', '']
  const method = random.below(50) === 0 ? random.pick(unknown) : random.pick(known)
  const fair = random.below(3)
  const list = row.method.params.described.map(({ name }) =>
    fair === 0 || (fair === 1 && random.below(2) === 0) ? value(random) : fitting(random, name),
  )
  if (random.below(10) === 0) list.pop()
  if (random.below(20) === 0) list.push(value(random))
  const params = random.below(50) === 0 ? value(random) : list
  return JSON.stringify({ jsonrpc: '2.0', id, method, params })
}

/** Cuts, duplicates or changes a few characters. */
function damaged(random: Random, text: string): string {
  let result = text
  for (let count = 0; count <= random.below(3); count++) {
    const at = random.below(result.length + 1)
    const character = random.pick(['{', '}', '[', ']', '"', ',', ':', '\\', '0', 'null', '\u0000', '\ud800', ' '])
    const rest = result.slice(at + random.below(3))
    result = result.slice(0, at) + (random.below(4) === 0 ? '' : character) + rest
  }
  return result
}

interface Answer {
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

describe('random requests', () => {
  let node: NodeProcess
  beforeAll(async () => {
    // A call that uses all its gas must not slow down the test.
    node = await NodeProcess.start([], 'rpc.timeoutMs = 2000')
  })
  afterAll(async () => {
    expect(await node.result('net_version')).toBe('33')
    expect(node.errors).not.toContain('internal error')
    await node.stop()
  })

  /** Sends a body and returns the answers, which must neither be internal errors nor late. */
  const exchange = async (body: string): Promise<Answer[]> => {
    const began = performance.now()
    const { status, body: answer } = await node.post(body)
    expect([body, [200, 204].includes(status)]).toEqual([body, true])
    expect([body, performance.now() - began < slowestMs]).toEqual([body, true])
    const answers = [answer ?? []].flat() as Answer[]
    const defects = answers.filter(({ error }) => error?.code === -32603)
    if (defects.length > 0) throw new Error(`${body}\n${node.errors}`)
    return answers
  }

  test(
    'behavior: every method answers every kind of parameter, none with a defect',
    async () => {
      const random = new Random(seed)
      const answered = new Set<string>()
      for (let round = 0; round < cases / 4; round++) {
        const requests = Array.from({ length: batchSize }, (_, id) => request(random, id))
        const answers = await exchange(`[${requests.join(',')}]`)
        expect(answers).toHaveLength(batchSize)
        for (const [index, answer] of answers.entries()) {
          const asked = requests[index] ?? ''
          expect([asked, 'result' in answer || typeof answer.error?.message === 'string']).toEqual([asked, true])
          if ('result' in answer) answered.add((JSON.parse(asked) as { method: string }).method)
        }
      }
      // The generator must also produce accepted requests.
      expect(answered.size).toBeGreaterThan(table.length / 2)
    },
    30_000 + cases * 200,
  )

  test(
    'behavior: damaged envelopes are refused, not failed at',
    async () => {
      const random = new Random(seed + 1)
      for (let round = 0; round < cases; round++) {
        const text = random.below(4) === 0 ? `[${request(random, 1)},${request(random, 2)}]` : request(random, round)
        await exchange(damaged(random, text))
      }
    },
    30_000 + cases * 200,
  )

  test(
    'behavior: every method over WebSocket, and frames that are none',
    async () => {
      const random = new Random(seed + 2)
      const client = await Client.open(node.url)
      for (let round = 0; round < cases; round++) {
        const asked = request(random, round)
        const answer = await client.exchange(asked)
        expect([asked, answer?.id]).toEqual([asked, round])
        if (answer?.error?.code === -32603) throw new Error(`${asked}\n${node.errors}`)
      }
      for (let round = 0; round < cases / 8; round++) {
        const { socket } = await shakenHands(node.url)
        const head = Buffer.from(random.hex(2 + random.below(12)).slice(2), 'hex')
        // Often a text or a ping, so that more than the first byte is parsed.
        if (random.below(2) === 0) head[0] = random.pick([0x01, 0x80, 0x81, 0x89])
        socket.write(Buffer.concat([head, Buffer.from(request(random, round))]))
        await new Promise((resolve) => setTimeout(resolve, 5))
        socket.destroy()
      }
      expect(await client.result('net_version')).toBe('33')
      await client.close()
    },
    30_000 + cases * 200,
  )
})

describe('envelopes of the corpus', () => {
  const folder = fileURLToPath(new URL('../../tests/corpus/envelope/', import.meta.url))
  const corpus = readdirSync(folder).map((name): [string, string] => [name, readFileSync(folder + name, 'utf8')])
  const bodies = new BodyServer(
    {
      isWrite: () => false,
      price: () => 1,
      answer: ({ id, method }) => writeResult(id ?? 'null', JSON.stringify(method)),
    },
    { maxBatchRequests: 50, hasHints: true },
    new MemoryBudget(sharedCounters(1), 0, 2 ** 29),
    () => heapBody(() => '{"fault":"TooManyValues"}'),
  )

  /** Checks that every answer has an id and either a result or an error; the id of a single request is returned unchanged. */
  const check = async (body: string): Promise<void> => {
    const small = Buffer.from(body)
    const bytes = small.length > maxParsedBytes ? heapBody(() => '{"fault":"TooManyValues"}', small) : small
    const { answer } = await bodies.serve(bytes, new RequestContext(0, () => undefined))
    if (answer === undefined) return
    const answers = [JSON.parse(wholeMessage(answer).toString())].flat() as Record<string, unknown>[]
    for (const one of answers) {
      expect(Object.keys(one)).toEqual(['jsonrpc', 'id', 'result' in one ? 'result' : 'error'])
    }
    if (answers[0]?.result !== undefined) {
      // Decoded as a server decodes the bytes: without a byte order mark and lone surrogates.
      const asked = [JSON.parse(bodyText(small) ?? '')].flat() as { id?: unknown; method?: unknown }[]
      const wanted = asked.filter((one) => one?.id !== undefined && typeof one.method === 'string')
      expect(wanted.map(({ id }) => id)).toEqual(expect.arrayContaining([answers[0].id]))
      expect(answers.length).toBeLessThanOrEqual(asked.length)
    }
  }

  test.each(corpus)('behavior: %s', (_name, body) => check(body))

  test(
    'behavior: damaged ones',
    async () => {
      const random = new Random(seed + 3)
      const until = performance.now() + fuzzMs
      for (let round = 0; fuzzMs > 0 ? performance.now() < until : round < cases * 20; round++) {
        const [, body] = random.pick(corpus)
        const other = random.below(8) === 0 ? random.pick(corpus)[1] : ''
        const input = damaged(
          random,
          body.slice(0, body.length - (other === '' ? 0 : random.below(body.length))) + other,
        )
        try {
          await check(input)
        } catch (error) {
          const place = `${folder}failed-${createHash('sha256').update(input).digest('hex').slice(0, 16)}`
          writeFileSync(place, input)
          throw new Error(`the input is kept as ${place}`, { cause: error })
        }
      }
    },
    30_000 + cases * 20 + fuzzMs,
  )
})
