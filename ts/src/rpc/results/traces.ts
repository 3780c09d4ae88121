import { Type } from 'typebox'
import {
  address,
  anything,
  bareHex,
  data,
  hash,
  listOf,
  named,
  nothing,
  orNull,
  quantity,
  shape,
  text,
  whole,
} from './values.ts'

// Traces. The result of debug_trace* depends on tracer and options.

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

/** Result of a call outside of a block. */
const replayed = {
  output: data,
  stateDiff: orNull(Type.Record(Type.String(), anything)),
  trace: listOf(shape('ReplayedTrace', trace)),
  vmTrace: orNull(Type.Object({ code: data, ops: listOf(anything) })),
}

export const replay = shape('Replay', replayed)
export const replayOfTransaction = shape('TransactionReplay', { ...replayed, transactionHash: hash })

// Results of the tracers of debug_trace*.

/** Slot -> word. */
const cells = named('^[0-9a-f]{64}$', bareHex)

/** State before an opcode executes. */
const step = Type.Object(
  {
    op: orNull(text),
    depth: whole,
    pc: whole,
    gas: whole,
    gasCost: whole,
    memory: Type.Optional(listOf(bareHex)),
    stack: Type.Optional(listOf(bareHex)),
    storage: Type.Optional(cells),
  },
  { title: 'Instruction' },
)

/** Trace of executed code (rskTracer, the default). */
const instructions = Type.Object(
  {
    contractAddress: bareHex,
    initStorage: cells,
    structLogs: listOf(step),
    result: bareHex,
    error: text,
    reverted: Type.Boolean(),
    /** Absent if the contract has more than 20,000 slots and its code used none. */
    storageSize: Type.Optional(whole),
    currentStorage: cells,
  },
  { title: 'InstructionTrace' },
)

/** Trace of a transaction without code (rskTracer). */
const transfer = Type.Object(
  {
    programInvoke: nothing,
    transferInvoke: Type.Object({ ownerAddress: bareHex, callerAddress: bareHex, callValue: bareHex }),
    subtraces: listOf(anything),
    reverted: Type.Boolean(),
  },
  { title: 'TransferTrace' },
)

/** Call with its inner calls, which have the same form (callTracer). */
const callFrame = Type.Object(
  {
    type: text,
    from: address,
    to: Type.Optional(address),
    value: Type.Optional(quantity),
    gas: quantity,
    gasUsed: quantity,
    input: data,
    // A QUANTITY if the form of the reference is configured.
    output: Type.Optional(Type.Union([data, quantity])),
    error: Type.Optional(text),
    revertReason: Type.Optional(text),
    logs: Type.Optional(listOf(anything)),
    calls: Type.Optional(listOf(anything)),
    // Of the outermost call, on development networks.
    console: Type.Optional(listOf(text)),
  },
  { title: 'CallFrame' },
)

/** By address (prestateTracer). */
const prestate = named(
  '^0x[0-9a-f]{40}$',
  shape('PrestateAccount', {
    balance: Type.Optional(quantity),
    nonce: Type.Optional(whole),
    code: Type.Optional(data),
    storage: Type.Optional(named('^0x[0-9a-f]{64}$', hash)),
  }),
)

/** Tree of calls with the instructions and storage slots of each (erc7562Tracer). */
const userOperation = Type.Object(
  {
    ...callFrame.properties,
    accessedSlots: Type.Object({}),
    extCodeAccessInfo: listOf(address),
    usedOpcodes: named('^0x[0-9a-f]{1,2}$', whole),
    contractSize: named('^0x[0-9a-f]{40}$', shape('ContractSize', { contractSize: whole, opcode: whole })),
    outOfGas: Type.Boolean(),
    keccak: Type.Optional(listOf(data)),
  },
  { title: 'UserOperationFrame' },
)

const single = Type.Union([
  instructions,
  transfer,
  userOperation,
  callFrame,
  // Calls of a method (4byteTracer); the noopTracer has none.
  named('^0x[0-9a-f]{8}-[0-9]+$', whole),
  // flatCallTracer
  listOf(Type.Union([transactionTrace, shape('FlatCall', trace)])),
  shape('PrestateChange', { pre: prestate, post: prestate }),
  prestate,
])

/** Result of the requested tracer; of the muxTracer by the names of its tracers. */
export const tracerResult = Type.Union([single, named('^[A-Za-z0-9]+Tracer$', single)])
/** Storage slots by their Keccak hashes. Values of the Bridge can be longer than a word. */
export const storageRange = shape('StorageRange', {
  storage: named('^0x[0-9a-f]{64}$', shape('StorageEntry', { key: hash, value: data })),
  nextKey: orNull(hash),
})
/** Results of a block; those of rskTracer have no hash. */
export const tracerResults = listOf(
  Type.Union([shape('TracedTransaction', { txHash: hash, result: tracerResult }), instructions, transfer]),
)
