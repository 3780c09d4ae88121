import { describe, expect, test } from 'vitest'
import { parse, writeBatch, writeError, writeResult } from './envelope.ts'
import { RpcError } from './errors.ts'
import { LongAnswer, wholeMessage } from './longAnswer.ts'

const single = (body: string) => {
  const parsed = parse(body, 50)
  if (parsed.kind !== 'single') throw new Error('a batch')
  return parsed.call
}

const refusalOf = (body: string) => {
  const call = single(body)
  return 'error' in call ? { id: call.id, code: call.error.code } : undefined
}

describe('parse', () => {
  test.each([
    ['', -32700],
    ['   ', -32700],
    ['{', -32700],
    ['\0', -32700],
    ['{"id":1,"method":"a"} trailing', -32700],
    ['{"id":1,"method":"a"}{"id":2,"method":"a"}', -32700],
    ['null', -32600],
    ['1', -32600],
    ['"x"', -32600],
    ['{}', -32600],
    ['[]', -32600],
    [`${'['.repeat(1200)}${']'.repeat(1200)}`, -32600],
    ['{"id":{"a":1},"method":"a"}', -32600],
    ['{"id":[1],"method":"a"}', -32600],
    ['{"id":true,"method":"a"}', -32600],
  ])('error: %.40s is refused with %i and id null', (body, code) => {
    expect(refusalOf(body)).toEqual({ id: 'null', code })
  })

  test.each([
    '{"jsonrpc":"2.0","id":1}',
    '{"jsonrpc":"2.0","id":1,"method":null}',
    '{"jsonrpc":"2.0","id":1,"method":5}',
    '{"jsonrpc":"1.0","id":1,"method":"a"}',
    '{"jsonrpc":2,"id":1,"method":"a"}',
    '{"jsonrpc":"2.0","id":1,"method":"a","params":"x"}',
    '{"jsonrpc":"2.0","id":1,"method":"a","params":5}',
  ])('error: %s keeps its id', (body) => {
    expect(refusalOf(body)).toEqual({ id: '1', code: -32600 })
  })

  test('args: absent, null, [] and {} mean no parameters; named ones are undefined', () => {
    for (const params of ['', ',"params":null', ',"params":[]', ',"params":{}']) {
      expect(single(`{"id":1,"method":"a"${params}}`)).toEqual({ id: '1', method: 'a', params: [] })
    }
    expect(single('{"id":1,"method":"a","params":{"x":1}}')).toEqual({ id: '1', method: 'a', params: undefined })
  })

  test('behavior: no id is a notification, null is an id', () => {
    expect(single('{"method":"a"}')).toMatchObject({ id: null })
    expect(single('{"id":null,"method":"a"}')).toMatchObject({ id: 'null' })
  })

  test('behavior: the last of two equal members wins', () => {
    expect(single('{"id":1,"id":2,"method":"a","method":"b"}')).toMatchObject({ id: '2', method: 'b' })
  })

  test('behavior: a batch keeps its order, malformed elements are rejected separately', () => {
    const parsed = parse('[1,{"id":3,"method":"a"},[{"id":4,"method":"b"}],{"method":"c"}]', 50)
    expect(parsed).toMatchObject({
      kind: 'batch',
      calls: [
        { id: 'null', error: { code: -32600 } },
        { id: '3', method: 'a' },
        { id: 'null', error: { code: -32600 } },
        { id: null, method: 'c' },
      ],
    })
  })

  test('error: a batch that is too long is refused as a whole', () => {
    const call = parse(`[${'{"method":"a"},'.repeat(2)}{"method":"a"}]`, 2)
    expect(call).toMatchObject({
      kind: 'single',
      call: {
        id: 'null',
        error: {
          code: -32600,
          message: 'Cannot dispatch batch requests. 2 is the max number of supported batch requests',
        },
      },
    })
  })

  test('behavior: 20 malformed elements count as one request', () => {
    expect(parse(`[${'1,'.repeat(39)}1]`, 2).kind).toBe('batch')
    expect(parse(`[${'1,'.repeat(40)}1]`, 2).kind).toBe('single')
  })
})

describe('write', () => {
  test('behavior: a result is copied unparsed, as text or bytes', () => {
    expect(writeResult('"x"', '{"a": 1}')).toBe('{"jsonrpc":"2.0","id":"x","result":{"a": 1}}')
    expect(wholeMessage(writeResult('7', Buffer.from('[1]'))).toString()).toBe('{"jsonrpc":"2.0","id":7,"result":[1]}')
  })

  test('behavior: an error has data if present, and the hint on demand', () => {
    const error = new RpcError(-32015, 'no "way"', '0x01', 'a: expected b')
    expect(JSON.parse(writeError('1', error, false)).error).toEqual({ code: -32015, message: 'no "way"', data: '0x01' })
    expect(JSON.parse(writeError('1', error, true)).error.message).toBe('no "way" (a: expected b)')
    expect(JSON.parse(writeError('1', new RpcError(-1, 'm'), true)).error).toEqual({ code: -1, message: 'm' })
  })

  test('behavior: batches of text and bytes; undefined without answers', () => {
    expect(writeBatch(['1', '2'])).toBe('[1,2]')
    expect(wholeMessage(writeBatch(['1', new LongAnswer([Buffer.from('2')]), '3']) ?? '').toString()).toBe('[1,2,3]')
    expect(writeBatch([])).toBeUndefined()
  })
})
