import { describe, expect, test } from 'vitest'
import { Dispatcher, type Entry, type Row } from './dispatch.ts'
import { Flight } from './flight.ts'
import { methodsOf, positional } from './method.ts'
import { address } from './parameters/address.ts'
import { stateBlock } from './parameters/block.ts'
import { BodyServer } from './serve.ts'

type Context = { readonly trace: string[] }

const defineMethod = methodsOf<Context>()
const later = (text: string, ms: number) => new Promise<string>((resolve) => setTimeout(() => resolve(text), ms))

const read = defineMethod({
  params: positional([address], [stateBlock]),
  answer: (_context, [who, block = 'latest']) => JSON.stringify([who, block]),
})
const slow = defineMethod({
  params: positional([]),
  answer: (context, _params, flight) =>
    flight.run(async () => {
      context.trace.push('slow starts')
      const text = await later('"slow"', 20)
      context.trace.push('slow ends')
      return text
    }),
})
const write = defineMethod({
  params: positional([]),
  answer: async (context) => {
    context.trace.push('write')
    return '"written"'
  },
})
const broken = defineMethod({
  params: positional([]),
  answer: () => {
    throw new TypeError('secret')
  },
})
const large = defineMethod({ params: positional([]), answer: () => Buffer.from(`"${'x'.repeat(90)}"`) })

function row(name: string, method: Row<Context>['method'], more: Partial<Row<Context>> = {}): [string, Entry<Context>] {
  return [name, { row: { name, module: 't', lane: 'sync', cost: 1, doc: '', method, ...more } }]
}

function serve(body: string, hasHints = false) {
  const trace: string[] = []
  const defects: unknown[] = []
  const entries = new Map<string, Entry<Context>>([
    row('t_read', read),
    row('t_slow', slow),
    row('t_write', write, { isWrite: true }),
    row('t_broken', broken),
    row('t_large', large),
    row('t_own', large, { hasOwnLimit: true }),
    ['t_off', { arities: [1] }],
    ['t_hidden', { arities: read }],
  ])
  const dispatcher = new Dispatcher(
    entries,
    { trace },
    { maxResponseBytes: 150, hasHints, presumesBlock: false },
    ({ defect }) => {
      if (defect !== undefined) defects.push(defect)
    },
  )
  const bodies = new BodyServer(dispatcher, { maxBatchRequests: 50, hasHints })
  return Promise.resolve(bodies.serve(body, new Flight(1000, () => undefined))).then((reply) => {
    const parsed = reply.answer === undefined ? undefined : JSON.parse(reply.answer.toString())
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

  test('error: wrong number of parameters, before anything else is looked at', async () => {
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

  test('error: a defect says nothing to the caller and everything to the log', async () => {
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

  test('behavior: answers in order; writes wait for reads before them and hold up those behind', async () => {
    const { answer, trace } = await serve(batch(call('t_slow', [], 1), call('t_write', [], 2), call('t_slow', [], 3)))
    expect(answer.map((one: { id: number }) => one.id)).toEqual([1, 2, 3])
    expect(trace).toEqual(['slow starts', 'slow ends', 'write', 'slow starts', 'slow ends'])
  })

  test('behavior: notifications are left out, alone they leave nothing', async () => {
    const { answer } = await serve(batch('{"method":"t_write"}', call('t_read', [who], 5)))
    expect(answer).toEqual([{ jsonrpc: '2.0', id: 5, result: [who, 'latest'] }])
    expect((await serve('[{"method":"t_write"}]')).answer).toBeUndefined()
  })

  test('error: only the element that breaks the size limit fails', async () => {
    const { answer } = await serve(batch(call('t_large', [], 1), call('t_large', [], 2), call('t_own', [], 3)))
    expect(answer[0].result).toHaveLength(90)
    expect(answer[1].error).toEqual({ code: -32011, message: 'Response size limit of 150 bytes exceeded' })
    expect(answer[2].result).toHaveLength(90)
  })
})
