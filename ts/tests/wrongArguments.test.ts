import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { table } from '../src/methods/table.ts'
import { SocketClient } from './conformance/socketClient.ts'
import { NodeProcess } from './node.ts'

// All parameters of all methods with all kinds of wrong values, generated from the table.

const who = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const hash = `0x${'ab'.repeat(32)}`

/** Valid values: for each parameter, the first of these that its schema accepts. */
const right: readonly unknown[] = [
  '0x01',
  who,
  hash,
  'latest',
  { to: who },
  {},
  [],
  ['trace'],
  true,
  1,
  '0x0000000000000001',
  'newHeads',
  'feed',
  'text',
  ['0x0'],
]

/** Returns a valid value of a parameter. */
function rightValue({ name, schema }: { readonly name: string; readonly schema: TSchema }): unknown {
  // A short limit may end the call before its other parameters are read.
  if (name === 'timeout') return 60_000
  return right.find((one) => Compile(schema).Check(one))
}

const wrong: readonly unknown[] = [
  null,
  true,
  -1,
  7.5,
  1e30,
  2 ** 53,
  {},
  [],
  [[]],
  [{}],
  { toString: 1 },
  '',
  ' ',
  '0x',
  '0X1',
  '0x1',
  '0xzz',
  '0x123',
  'zz',
  '-1',
  '-0x1',
  '1e3',
  'newest',
  'Latest',
  '\u0000',
  '١٢٣',
  `0x${'f'.repeat(65)}`,
  '9'.repeat(100),
  `0x${'ab'.repeat(40)}`,
  who.slice(0, -1),
  `${who}0`,
  hash.slice(0, -1),
  'x'.repeat(10_000),
]

interface Question {
  readonly method: string
  readonly params: unknown
  /** The parameter in the expected refusal; undefined for a wrong number of parameters. */
  readonly name?: string
  readonly value?: unknown
}

interface Answer {
  readonly id: number
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

/** Forms that are accepted although a different form is documented, as in the reference. */
function isReadAllTheSame(name: string, value: unknown): boolean {
  switch (name) {
    // An unknown id is not found; blanks in it are skipped.
    case 'filterId':
    case 'subscriptionId':
      return typeof value !== 'object' && /^(0x)?[0-9a-f]*$/i.test(String(value).replaceAll(/\s/g, ''))
    case 'code':
    case 'data':
      return typeof value === 'string' && /^[0-9a-fA-F]*$/.test(value)
    case 'number':
      return Number.isSafeInteger(value) || value === 2 ** 53
    case 'positions':
      return typeof value === 'string' || value === null
    default:
      return false
  }
}

/** Returns members of an object with invalid values. */
function wrongMembers(schema: { properties?: Record<string, TSchema> }): [name: string, value: unknown][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const check = Compile(member)
    const values = wrong.filter((value) => value !== null && !check.Check(value) && !isReadInObjects(member, value))
    return values.map((value): [string, unknown] => [name, value])
  })
}

/** In objects, decimal numbers are accepted, too, an empty number is absent, and flags are true or false. */
function isReadInObjects({ type, pattern }: { type?: string; pattern?: string }, value: unknown): boolean {
  if (type === 'boolean') return true
  const isNumber = pattern?.includes('{0,64}') === true
  if (isNumber && (Number.isSafeInteger(value) || value === '')) return Number(value) >= 0
  return typeof value === 'string' && value.length % 2 === 0 && /^[0-9a-f]*$/i.test(value)
}

function questions(): Question[] {
  return table
    .filter((row) => row.isOff !== true)
    .flatMap(({ name: method, method: { params } }) => {
      const values = params.described.map(rightValue)
      const asked: Question[] = [
        { method, params: [...values, ...Array(params.maximum + 1 - values.length).fill(0)] },
        { method, params: { any: 1 } },
      ]
      if (params.minimum > 0) asked.push({ method, params: values.slice(0, params.minimum - 1) })
      for (const [index, { name, schema, isRequired }] of params.described.entries()) {
        const check = Compile(schema)
        for (const value of wrong) {
          // Null for an optional parameter means absent.
          if (check.Check(value) || (value === null && !isRequired)) continue
          if (!isReadAllTheSame(name, value)) asked.push({ method, params: values.with(index, value), name, value })
        }
        for (const [member, value] of wrongMembers(schema)) {
          // trace_filter accepts block tags in upper or lower case.
          if (method === 'trace_filter' && member.endsWith('Block') && value === 'Latest') continue
          const whole = { ...(values[index] as object), [member]: value }
          asked.push({ method, params: values.with(index, whole), name: member, value })
        }
      }
      return asked
    })
}

type Ask = (questions: readonly Question[]) => Promise<Answer[]>

const batchSize = 50

describe.each(['HTTP', 'WebSocket'] as const)('over %s', (transport) => {
  let node: NodeProcess
  let ask: Ask
  let close = (): void => undefined
  beforeAll(async () => {
    node = await NodeProcess.start([], 'rpc.timeoutMs = 2000\nchoices.absentBlock = "refuse"')
    const body = (batch: readonly Question[]): string =>
      JSON.stringify(batch.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params })))
    if (transport === 'HTTP') {
      ask = async (batch) => (await node.post(body(batch))).body as Answer[]
    } else {
      const client = await SocketClient.open(node.url)
      close = () => client.close()
      // Subscriptions are created one by one.
      const alone = (method: string): boolean => method.endsWith('subscribe')
      ask = async (batch) => {
        const text = body(batch)
        if (!batch.some(({ method }) => alone(method))) return (await client.ask(text, false)).body as Answer[]
        const answers: Answer[] = []
        for (const [id, { method, params }] of batch.entries()) {
          const request = JSON.stringify({ jsonrpc: '2.0', id, method, params })
          answers.push((await client.ask(request, false)).body as Answer)
        }
        return answers
      }
    }
  })
  afterAll(async () => {
    close()
    // The node still serves, and has logged no internal error.
    expect(await node.result('net_version')).toBe('33')
    expect(node.errors).not.toContain('internal error')
    await node.stop()
  })

  test('error: a wrong argument is refused by its name, no other way', async () => {
    const isServed = ({ method }: Question): boolean => transport === 'WebSocket' || !method.endsWith('subscribe')
    const all = questions().filter(isServed)
    const failures: string[] = []
    for (let first = 0; first < all.length; first += batchSize) {
      const batch = all.slice(first, first + batchSize)
      const answers = await ask(batch)
      expect(answers).toHaveLength(batch.length)
      for (const [index, question] of batch.entries()) {
        const { error } = answers[index] ?? ({} as Answer)
        const isRefused = error?.code === -32602 && error.message.includes(question.name ?? question.method)
        if (!isRefused) failures.push(`${JSON.stringify(question).slice(0, 300)}: ${JSON.stringify(answers[index])}`)
      }
    }
    expect(failures.join('\n')).toBe('')
    expect(all.length).toBeGreaterThan(1000)
  }, 120_000)

  test('behavior: unknown methods are not found, and no internal error', async () => {
    const unknown: readonly unknown[] = [hash, '0x99999999', `0x${'0'.repeat(64)}`, { blockHash: hash }]
    const asked = table
      .filter((row) => row.isOff !== true && row.isWrite !== true && !row.name.endsWith('subscribe'))
      .flatMap(({ name: method, method: { params } }) => {
        const values = params.described.map(rightValue)
        const changed = params.described.flatMap(({ schema }, index) =>
          unknown.filter((one) => Compile(schema).Check(one)).map((one) => values.with(index, one)),
        )
        return [values, ...changed].map((params): Question => ({ method, params }))
      })
    for (let first = 0; first < asked.length; first += batchSize) {
      const batch = asked.slice(first, first + batchSize)
      for (const [index, { error }] of (await ask(batch)).entries()) {
        expect([batch[index], error?.code]).not.toEqual([batch[index], -32603])
      }
    }
    expect(asked.length).toBeGreaterThan(150)
  }, 120_000)
})
