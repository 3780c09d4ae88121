import { describe, expect, test } from 'vitest'
import { heapBody } from '../../tests/heapBody.ts'
import type { Caller } from './caller.ts'
import { Dispatcher, type Entry, type MethodSpec } from './dispatch.ts'
import { tooManyRequests } from './errors.ts'
import { eventLoopBudget } from './eventLoopBudget.ts'
import { maxParsedBytes } from './largeBody.ts'
import { wholeMessage } from './longAnswer.ts'
import { MemoryBudget, sharedCounters } from './memoryBudget.ts'
import { methodsOf, positional } from './method.ts'
import { address } from './parameters/address.ts'
import { stateBlock } from './parameters/block.ts'
import { RequestContext } from './requestContext.ts'
import { text } from './results/values.ts'
import { BodyServer } from './serve.ts'

type Context = { readonly trace: string[] }

const defineMethod = methodsOf<Context>()
const later = (text: string, ms: number) => new Promise<string>((resolve) => setTimeout(() => resolve(text), ms))

const read = defineMethod({
  params: positional([address], [stateBlock]),
  result: text,
  answer: (_context, [who, block = 'latest']) => JSON.stringify([who, block]),
})
const slow = defineMethod({
  params: positional([]),
  result: text,
  answer: (context, _params, request) =>
    request.run(async () => {
      context.trace.push('slow starts')
      const answer = await later('"slow"', 20)
      context.trace.push('slow ends')
      return answer
    }),
})
const write = defineMethod({
  params: positional([]),
  result: text,
  answer: async (context) => {
    context.trace.push('write')
    return '"written"'
  },
})
const broken = defineMethod({
  params: positional([]),
  result: text,
  answer: () => {
    throw new TypeError('secret')
  },
})
const large = defineMethod({ params: positional([]), result: text, answer: () => Buffer.from(`"${'x'.repeat(90)}"`) })

const largeLater = defineMethod({ params: positional([]), result: text, answer: () => later(`"${'x'.repeat(58)}"`, 1) })
/** Returns the bytes that its result may have. */
const room = defineMethod({
  params: positional([]),
  result: text,
  answer: (_context, _params, request) => `${request.maxBytes}`,
})

function memoryOf(bytes: number): MemoryBudget {
  return new MemoryBudget(sharedCounters(1), 0, bytes)
}

function spec(
  name: string,
  method: MethodSpec<Context>['method'],
  more: Partial<MethodSpec<Context>> = {},
): [string, Entry<Context>] {
  return [name, { spec: { name, module: 't', cost: 1, doc: '', method, ...more } }]
}

function serve(body: string, hasHints = false, caller?: Caller) {
  const trace: string[] = []
  const defects: unknown[] = []
  const entries = new Map<string, Entry<Context>>([
    spec('t_read', read),
    spec('t_slow', slow),
    spec('t_write', write, { isWrite: true }),
    spec('t_broken', broken),
    spec('t_large', large),
    spec('t_largeLater', largeLater),
    spec('t_room', room),
    ['t_off', { arities: [1] }],
    ['t_hidden', { arities: read }],
  ])
  const dispatcher = new Dispatcher(
    entries,
    { trace },
    { maxResponseBytes: 150, hasHints, presumesBlock: false, servesDepthTags: true },
    ({ defect }) => {
      if (defect !== undefined) defects.push(defect)
    },
  )
  const openLarge = () => heapBody(() => '{"fault":"TooDeep"}')
  const bodies = new BodyServer(dispatcher, { maxBatchRequests: 50, hasHints }, memoryOf(2 ** 30), openLarge)
  const request = new RequestContext(1000, () => undefined)
  request.caller = caller
  const bytes = Buffer.from(body)
  const isLarge = bytes.length > maxParsedBytes
  const served = bodies.serve(isLarge ? heapBody(() => '{"fault":"TooDeep"}', bytes) : bytes, request)
  // The caller uses the memory of a small body again.
  if (!isLarge) bytes.fill(0)
  return Promise.resolve(served).then((reply) => {
    const parsed = reply.answer === undefined ? undefined : JSON.parse(wholeMessage(reply.answer).toString())
    return { answer: parsed, errorCode: reply.error?.code, trace, defects }
  })
}

const who = `0x${'ab'.repeat(20)}`
const call = (method: string, params: unknown[] = [], id: unknown = 1) => JSON.stringify({ id, method, params })

describe('single', () => {
  test('behavior: parameters are checked and defaults filled in', async () => {
    expect((await serve(call('t_read', [who]))).answer.result).toEqual([who, 'latest'])
    expect((await serve(call('t_read', [who, null]))).answer.result).toEqual([who, 'latest'])
    expect((await serve(call('t_read', [who, 'pending']))).answer.result).toEqual([who, 'pending'])
  })

  test('error: wrong number of parameters, reported before other faults', async () => {
    for (const params of [[], [who, 'latest', 1]]) {
      const { answer, errorCode } = await serve(call('t_read', params))
      expect(answer.error).toEqual({ code: -32602, message: 'method parameters invalid' })
      expect(errorCode).toBe(-32602)
    }
    const { answer } = await serve(call('t_read', []), true)
    expect(answer.error.message).toBe('method parameters invalid (t_read takes [address, block?], got 0)')
  })

  test('error: a bad value names its parameter when hints are on', async () => {
    const { answer } = await serve(call('t_read', ['0x12']), true)
    expect(answer.error.message).toBe(
      'Invalid address: null, empty or invalid hex value. (address: expected 20 bytes, 0x and 40 hex digits)',
    )
  })

  test('error: unknown and unavailable methods', async () => {
    expect((await serve(call('t_nope'))).answer.error).toEqual({ code: -32601, message: 'method not found' })
    expect((await serve(call('t_off', [1]))).answer.error.message).toBe(
      'the method t_off does not exist/is not available',
    )
    expect((await serve(call('t_off', []))).answer.error.code).toBe(-32602)
    expect((await serve(call('t_hidden', [who]))).answer.error.code).toBe(-32601)
    expect((await serve(call('t_hidden', []))).answer.error.code).toBe(-32602)
  })

  test('error: a defect is described in the log only', async () => {
    const { answer, defects } = await serve(call('t_broken'))
    expect(answer.error).toEqual({ code: -32603, message: 'Internal server error' })
    expect(defects).toHaveLength(1)
  })

  test('behavior: notifications are executed and not answered, not even their errors', async () => {
    const body = '{"method":"t_write"}'
    expect(await serve(body)).toMatchObject({ answer: undefined, errorCode: undefined, trace: ['write'] })
    expect((await serve('{"method":"t_nope"}')).answer).toBeUndefined()
  })
})

describe('batch', () => {
  const batch = (...calls: string[]) => `[${calls.join(',')}]`

  test('behavior: answers in order; writes wait for earlier reads and delay later requests', async () => {
    const { answer, trace } = await serve(batch(call('t_slow', [], 1), call('t_write', [], 2), call('t_slow', [], 3)))
    expect(answer.map((one: { id: number }) => one.id)).toEqual([1, 2, 3])
    expect(trace).toEqual(['slow starts', 'slow ends', 'write', 'slow starts', 'slow ends'])
  })

  test('behavior: notifications have no answers', async () => {
    const { answer } = await serve(batch('{"method":"t_write"}', call('t_read', [who], 5)))
    expect(answer).toEqual([{ jsonrpc: '2.0', id: 5, result: [who, 'latest'] }])
    expect((await serve('[{"method":"t_write"}]')).answer).toBeUndefined()
  })

  test('error: only the element that breaks the size limit fails', async () => {
    const { answer } = await serve(batch(call('t_large', [], 1), call('t_large', [], 2), call('t_read', [who], 3)))
    expect(answer[0].result).toHaveLength(90)
    expect(answer[1].error).toEqual({ code: -32011, message: 'Response size limit of 150 bytes exceeded' })
    expect(answer[2].error.code).toBe(-32011)
  })

  test('error: the size limit applies to the sum of concurrent answers', async () => {
    const { answer } = await serve(batch(...[1, 2, 3, 4].map((id) => call('t_largeLater', [], id))))
    expect(answer.map((one: { error?: { code: number } }) => one.error?.code)).toEqual([
      undefined,
      -32011,
      -32011,
      -32011,
    ])
  })

  test('behavior: a method learns the bytes that its result may have', async () => {
    const { answer } = await serve(batch(call('t_room', [], 1), call('t_room', [], 2)))
    const first = JSON.stringify(answer[0]).length
    expect([answer[0].result, answer[1].result]).toEqual([150, 150 - first])
  })
})

describe('callers', () => {
  function account(left: number) {
    const seen: string[] = []
    const caller = {
      isCountedWhileRunning: true,
      enter: (units: number) => {
        seen.push(`enter ${units}`)
        return left > 0 ? undefined : tooManyRequests(1)
      },
      pay: (requests: number, units: number) => {
        seen.push(`pay ${requests} ${units}`)
        return units > left ? tooManyRequests(1) : undefined
      },
      leave: () => seen.push('leave'),
      countError: () => undefined,
      countRefused: () => seen.push('refused'),
    } as unknown as Caller
    return { caller, seen }
  }

  test('behavior: a body is admitted before it is read, and its bytes have a price', async () => {
    const { caller, seen } = account(9)
    expect((await serve(call('t_read', [who]), false, caller)).answer.result).toEqual([who, 'latest'])
    expect(seen).toEqual(['enter 0', 'pay 1 1', 'leave'])
    const large = account(9)
    await serve(`${' '.repeat(100_000)}1`, false, large.caller)
    expect(large.seen).toEqual(['enter 24', 'pay 1 1', 'leave'])
  })

  test('error: a rejected body is read for its id only', async () => {
    const { caller, seen } = account(0)
    expect((await serve(call('t_read', [who], 5), false, caller)).answer).toMatchObject({
      id: 5,
      error: { code: -32005 },
    })
    expect(seen).toEqual(['enter 0', 'refused'])
    for (const body of ['{', `{"id":5,"x":"${'x'.repeat(70_000)}"}`]) {
      expect((await serve(body, false, caller)).answer).toMatchObject({ id: null, error: { code: -32005 } })
    }
  })

  test('error: requests that cannot be paid for are not executed', async () => {
    const { caller, seen } = account(1)
    const { answer, trace } = await serve('[{"id":1,"method":"t_write"},{"id":2,"method":"t_write"}]', false, caller)
    expect([answer.error.code, trace, seen.at(-1)]).toEqual([-32005, [], 'leave'])
  })
})

test('behavior: a body that waits for a later turn is copied', async () => {
  eventLoopBudget.spend(100)
  expect((await serve(`${' '.repeat(5000)}${call('t_read', [who])}`)).answer.result).toEqual([who, 'latest'])
})

test('behavior: a long batch yields to other requests', async () => {
  const busy = defineMethod({
    params: positional([]),
    result: text,
    answer: (context) => {
      const until = performance.now() + 3
      while (performance.now() < until);
      context.trace.push('busy')
      return '1'
    },
  })
  const trace: string[] = []
  const dispatcher = new Dispatcher(
    new Map([spec('t_busy', busy)]),
    { trace },
    { maxResponseBytes: 0, hasHints: false, presumesBlock: false, servesDepthTags: true },
    () => undefined,
  )
  const settings = { maxBatchRequests: 50, hasHints: false }
  const bodies = new BodyServer(dispatcher, settings, memoryOf(2 ** 30), () => heapBody(String))
  const ask = (body: string) => bodies.serve(Buffer.from(body), new RequestContext(0, () => undefined))
  const batch = ask(`[${Array(10).fill('{"id":1,"method":"t_busy"}').join(',')}]`)
  expect(batch).toBeInstanceOf(Promise)
  const between: number[] = []
  const looking = setInterval(() => between.push(trace.length), 0)
  expect(JSON.parse(wholeMessage((await batch).answer ?? '').toString())).toHaveLength(10)
  clearInterval(looking)
  expect(between.filter((count) => count > 0 && count < 10).length).toBeGreaterThan(0)
})

test('behavior: the answers of unfinished batches count in the memory of clients', async () => {
  const executed: number[] = []
  const big = defineMethod({
    params: positional([]),
    result: text,
    answer: async () => {
      executed.push(1)
      return later(`"${'x'.repeat(100_000)}"`, 5)
    },
  })
  const wrote = defineMethod({ params: positional([]), result: text, answer: async () => '"written"' })
  const memory = memoryOf(2 ** 20)
  const dispatcher = new Dispatcher(
    new Map([spec('t_big', big), spec('t_wrote', wrote, { isWrite: true })]),
    { trace: [] },
    { maxResponseBytes: 0, hasHints: false, presumesBlock: false, servesDepthTags: true },
    () => undefined,
  )
  const bodies = new BodyServer(dispatcher, { maxBatchRequests: 50, hasHints: false }, memory, () => heapBody(String))
  const client = (name: string) => {
    const request = new RequestContext(0, () => undefined)
    request.readNetwork = () => name
    return request
  }
  const ask = async (request: RequestContext) => {
    // The write after each read makes the batch wait.
    const calls = Array.from(
      { length: 6 },
      (_, id) => `{"id":${2 * id},"method":"t_big"},{"id":${2 * id + 1},"method":"t_wrote"}`,
    )
    const reply = await bodies.serve(Buffer.from(`[${calls.join(',')}]`), request)
    const answers: { result?: string; error?: { code: number } }[] = JSON.parse(
      wholeMessage(reply.answer ?? '').toString(),
    )
    return answers.map(({ result, error }) => error?.code ?? result?.length)
  }
  const whole = Array(6).fill([100_000, 7]).flat()
  expect(await ask(client('a'))).toEqual(whole)
  expect(memory.bytes).toBe(0)

  executed.length = 0
  const replies = await Promise.all(['a', 'b', 'c'].map((name) => ask(client(name))))
  expect(memory.bytes).toBe(0)
  const sent = replies.flat().filter((size) => size === 100_000).length
  expect(sent).toBeGreaterThan(5)
  expect(sent).toBeLessThan(18)
  for (const reply of replies) {
    const first = reply.indexOf(-32005)
    expect(reply).toEqual(whole.map((size, index) => (index < first || first < 0 ? size : -32005)))
  }
  // Nothing is executed for a batch that was rejected.
  expect(executed.length).toBeLessThan(sent + 4)
})
