import { Type } from 'typebox'
import { address, anything, data, hash, listOf, nothing, orNull, quantity, shape, text, whole } from './values.ts'

// Traces. What a tracer of debug_trace* returns depends on its name and options.

const callType = Type.Enum(['call', 'callcode', 'delegatecall', 'staticcall'])

const action = Type.Union([
  shape('CallAction', { callType, from: address, to: address, gas: quantity, input: data, value: quantity }),
  shape('CreateAction', {
    from: address,
    gas: quantity,
    init: data,
    value: quantity,
    creationMethod: Type.Optional(Type.Enum(['create', 'create2'])),
  }),
  shape('SuicideAction', { address, refundAddress: address, balance: quantity }),
])

const outcome = Type.Union([
  shape('CallOutcome', { gasUsed: quantity, output: data }),
  shape('CreateOutcome', { gasUsed: quantity, code: data, address }),
  nothing,
])

const trace = {
  action,
  type: Type.Enum(['call', 'create', 'suicide']),
  subtraces: whole,
  traceAddress: listOf(whole),
  result: Type.Optional(outcome),
  error: Type.Optional(text),
}

export const transactionTrace = shape('Trace', {
  ...trace,
  blockHash: hash,
  blockNumber: whole,
  transactionHash: hash,
  transactionPosition: whole,
})

/** Of a call that is in no block. */
const replayed = {
  output: data,
  stateDiff: orNull(Type.Record(Type.String(), anything)),
  trace: listOf(shape('ReplayedTrace', trace)),
  vmTrace: orNull(Type.Object({ code: data, ops: listOf(anything) })),
}

export const replay = shape('Replay', replayed)
export const replayOfTransaction = shape('TransactionReplay', { ...replayed, transactionHash: hash })

/** A tree of calls, a list of steps, or accounts: as the tracer that was asked for has it. */
export const tracerResult = anything
export const tracerResults = listOf(anything)
