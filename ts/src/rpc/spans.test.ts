import { expect, test } from 'vitest'
import { parse } from './envelope.ts'
import { elementSpans, memberSpan } from './spans.ts'

test.each([
  ['{"params":[1]}', '[1]'],
  [' { "a" : "x\\\\" , "params" : { "b":[ "]}" ] } , "c":-1.5e3 }'.trim(), '{ "b":[ "]}" ] }'],
  ['{"params":1,"par\\u0061ms":[2],"x":null}', '[2]'],
  ['{"paramz":1,"x":"params"}', undefined],
  ['{}', undefined],
  ['[{"params":1}]', undefined],
])('behavior: member of %s', (json, text) => {
  const span = memberSpan(json, 0, 'params')
  expect(span && json.slice(...span)).toBe(text)
})

test.each(['[]', '[ ]', '[1]', '[ {"a":[1,{}]} , "x,]" ,null,-1.5E+3 , [] ]'])('behavior: elements of %s', (json) => {
  const spans = elementSpans(json, 0)
  const texts = Array.from({ length: spans.length / 2 }, (_none, index) =>
    json.slice(spans[2 * index], spans[2 * index + 1]),
  )
  expect(texts.map((text) => JSON.parse(text))).toEqual(JSON.parse(json))
})

test('behavior: a call returns its parameters as they were sent, alone and in a batch', () => {
  const request = '{"id":1,"method":"m","params":[{ "a" : 1.0 },"latest"]}'
  const single = parse(` ${request}`, 10)
  const batch = parse(`[ 5, ${request} ]`, 10)
  const calls = [
    single.kind === 'single' ? single.call : undefined,
    batch.kind === 'batch' ? batch.calls[1] : undefined,
  ]
  for (const call of calls) {
    if (call === undefined || 'error' in call) throw new Error('a call is expected')
    expect([call.paramText(0), call.paramText(1)]).toEqual(['{ "a" : 1.0 }', '"latest"'])
  }
})
