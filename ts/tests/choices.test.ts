import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NodeProcess } from './node.ts'

// Each choice between the API document and the reference, over HTTP: the default, compat = "reference", and compat =
// "reference" with each choice set back by its name.

const account = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const receiver = `0x${'77'.repeat(20)}`
/** Init codes: reverts; hits an invalid instruction; stores a word when it has more than 6,500,000 gas. */
const reverting = '0x60006000fd'
const halting = '0xfe'
const storing = '0x5a62632ea010600a57005b600160005500'

const setBack = `compat = "reference"
[choices]
errorStatus = "200"
errorText = "helpful"
failedEstimate = "estimate"
estimateCap = "block"
pendingSelector = "refuse"
haltedCall = "error"
bridgeState = "stored"
signatureWords = "padded"
listening = "actual"
traces = "standard"
filterPoll = "read"
timeOffset = "lasting"
stateOverride = "serve"
waiting = "explained"
depthTags = "serve"
`
/** Below the gas limit of a transaction in a block. */
const estimateCap = '[rpc]\nestimateGasCap = 6000000\n'

describe.each([
  ['the default', '', true],
  ['compat = "reference"', 'compat = "reference"\n', false],
  ['each choice set back', setBack, true],
])('%s', (_name, settings, isDocument) => {
  let node: NodeProcess
  /** Expected answers with the choice of the document and with that of the reference. */
  const expected = <T>(document: T, reference: T): T => (isDocument ? document : reference)

  beforeAll(async () => {
    node = await NodeProcess.start([], settings + estimateCap)
  })
  afterAll(async () => {
    expect(await node.stop()).toBe(0)
    expect(node.errors).not.toContain('internal error')
  })

  test('errorStatus', async () => {
    const wrong = { jsonrpc: '2.0', id: 1, method: 'eth_getBalance', params: ['0x12', 'latest'] }
    for (const body of ['{', '[]', JSON.stringify(wrong)]) {
      expect((await node.post(body)).status).toBe(expected(200, 400))
    }
    expect((await node.post('{"jsonrpc":"2.0","id":1,"method":"eth_x","params":[]}')).status).toBe(200)
  })

  test('errorText', async () => {
    const { error } = await node.ask('eth_getBalance', ['0x12', 'latest'])
    expect(error?.code).toBe(-32602)
    expect(error?.message.includes('address: expected')).toBe(isDocument)
  })

  test('failedEstimate', async () => {
    const { result, error } = await node.ask('eth_estimateGas', [{ from: account, data: reverting }])
    expect(error?.code).toBe(expected(undefined, -32015))
    if (isDocument) expect(Number(result)).toBeGreaterThan(53_000)
  })

  test('estimateCap', async () => {
    const estimate = Number(await node.result('eth_estimateGas', [{ from: account, data: storing }]))
    expect(estimate > 73_000).toBe(isDocument)
  })

  test('pendingSelector', async () => {
    const asked: [method: string, params: unknown[]][] = [
      ['eth_getCode', [receiver, 'pending']],
      ['eth_getBlockByNumber', ['pending', false]],
      ['eth_getUncleCountByBlockNumber', ['pending']],
      ['eth_getTransactionByBlockNumberAndIndex', ['pending', '0x0']],
      ['eth_getUncleByBlockNumberAndIndex', ['pending', '0x0']],
    ]
    for (const [method, params] of asked) {
      const { error } = await node.ask(method, params)
      expect(error?.code, method).toBe(expected(-32602, undefined))
    }
  })

  test('haltedCall', async () => {
    const { result, error } = await node.ask('eth_call', [{ from: account, data: halting }, 'latest'])
    expect(error?.code).toBe(expected(-32015, undefined))
    expect(result).toBe(expected(undefined, '0x'))
    if (isDocument) expect(error?.message).toContain('invalid opcode')
  })

  test('signatureWords', async () => {
    // Signatures are deterministic: some of these begin with zeros.
    const words: string[] = []
    for (let value = 1; value <= 40; value++) {
      const sent = { from: account, to: receiver, value: `0x${value.toString(16)}` }
      const hash = await node.result('eth_sendTransaction', [sent])
      const { r, s } = await node.result<{ r: string; s: string }>('eth_getTransactionByHash', [hash])
      words.push(r, s)
    }
    expect(words.some((word) => word.startsWith('0x0'))).toBe(isDocument)
    expect(words.every((word) => word.length === 66)).toBe(isDocument)
  })

  test('listening', async () => {
    expect(await node.result('net_listening')).toBe(!isDocument)
  })

  test('traces', async () => {
    const hash = await node.result('eth_sendTransaction', [{ from: account, to: receiver, value: '0x1' }])
    const [trace] = await node.result<[{ action: { gas: string } }]>('trace_transaction', [hash])
    expect(trace.action.gas).toBe(expected('0x15f90', '0x0'))
    const call = await node.result<{ gas: string; output?: string }>('debug_traceTransaction', [
      hash,
      { tracer: 'callTracer' },
    ])
    expect([call.gas, call.output]).toEqual(expected(['0x15f90', undefined], ['0x0', '0x0']))
  })

  test('filterPoll', async () => {
    const id = await node.result('eth_newBlockFilter')
    expect(await node.result('eth_getFilterChanges', [id])).toHaveLength(expected(0, 1))
  })

  test('timeOffset', async () => {
    const offsets: string[] = []
    for (const _turn of [1, 2]) {
      offsets.push(await node.result('evm_increaseTime', [1000]))
      await node.result('evm_mine')
    }
    expect(offsets).toEqual(['0x3e8', expected('0x7d0', '0x3e8')])
    const newest = await node.result<{ timestamp: string }>('eth_getBlockByNumber', ['latest', false])
    const before = await node.result<{ timestamp: string }>('eth_getHeaderByNumber', [
      `0x${(Number(await node.result('eth_blockNumber')) - 1).toString(16)}`,
    ])
    expect(Number(newest.timestamp) - Number(before.timestamp) >= 1000).toBe(isDocument)
  })

  test('depthTags', async () => {
    for (const tag of ['safe', 'finalized']) {
      const { error } = await node.ask('eth_getBlockByNumber', [tag, false])
      expect(error?.code).toBe(expected(undefined, -32602))
    }
  })

  test('stateOverride', async () => {
    const { result, error } = await node.ask('eth_call', [
      { to: receiver },
      'latest',
      { [receiver]: { code: '0x602a60005260206000f3' } },
    ])
    expect(error?.code).toBe(expected(undefined, -32602))
    if (isDocument) expect(Number(result)).toBe(42)
  })

  test('waiting', async () => {
    const nonce = Number(await node.result('eth_getTransactionCount', [account, 'latest'])) + 2
    await node.ask('eth_sendTransaction', [{ from: account, to: receiver, nonce: `0x${nonce.toString(16)}` }])
    const content = JSON.stringify(await node.result('txpool_content'))
    expect(content).toContain(`"${nonce}":[`)
    expect(content.includes('"reason":"its nonce is')).toBe(isDocument)
  })
})
