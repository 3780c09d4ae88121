import type { Addon } from '../native/bindings.ts'
import type { Entry, MethodSpec } from '../rpc/dispatch.ts'
import type { Answer } from '../rpc/envelope.ts'
import { code, RpcError } from '../rpc/errors.ts'
import type { RequestContext } from '../rpc/requestContext.ts'
import type { Context } from './context.ts'

// Blocks up to the block that a fork begins at are in the chain of the remote node, or of a data directory. Methods that read them are
// passed on. Traces are passed on only if the core cannot execute the block itself.

/** Parameter by which a method names a block or a transaction. */
interface RemoteRead {
  /**
   * `block`, `state`: a block id, whose block or state is read. `hash`: a hash, which is looked up in the fork first. `blockOrHash`: a
   * number or tag, or a hash.
   */
  readonly by: 'block' | 'state' | 'hash' | 'blockOrHash'
  /** Position of the parameter. */
  readonly at: number
  /** Object with the hash. */
  readonly of: 'block' | 'transaction'
  /** Results contain the number of their block. */
  readonly isPositioned?: true
  /** The core executes the block, with reads of the remote node's state. */
  readonly isExecuted?: true
}

const block = (at = 0): RemoteRead => ({ by: 'block', at, of: 'block' })
const state = (at: number): RemoteRead => ({ by: 'state', at, of: 'block' })
const blockHash: RemoteRead = { by: 'hash', at: 0, of: 'block' }
const transactionHash: RemoteRead = { by: 'hash', at: 0, of: 'transaction' }
const hashText = /^0x[0-9a-fA-F]{64}$/

const reads: Readonly<Record<string, RemoteRead>> = {
  eth_getBlockByNumber: block(),
  eth_getHeaderByNumber: block(),
  eth_getBlockTransactionCountByNumber: block(),
  eth_getUncleCountByBlockNumber: block(),
  eth_getUncleByBlockNumberAndIndex: block(),
  eth_getTransactionByBlockNumberAndIndex: block(),
  eth_getRawTransactionByBlockNumberAndIndex: block(),
  eth_getBlockReceipts: block(),
  rsk_getRawBlockHeaderByNumber: block(),
  debug_getRawHeader: block(),
  debug_getRawBlock: block(),
  debug_getRawReceipts: block(),
  eth_getBalance: state(1),
  eth_getTransactionCount: state(1),
  eth_getCode: state(1),
  eth_getStorageAt: state(2),
  rsk_getStorageBytesAt: state(2),
  eth_call: state(1),
  eth_estimateGas: state(1),
  eth_getBlockByHash: { ...blockHash, isPositioned: true },
  eth_getHeaderByHash: { ...blockHash, isPositioned: true },
  eth_getBlockTransactionCountByHash: blockHash,
  eth_getUncleCountByBlockHash: blockHash,
  eth_getUncleByBlockHashAndIndex: blockHash,
  eth_getTransactionByBlockHashAndIndex: { ...blockHash, isPositioned: true },
  eth_getTransactionByHash: { ...transactionHash, isPositioned: true },
  eth_getTransactionReceipt: { ...transactionHash, isPositioned: true },
  debug_traceTransaction: { ...transactionHash, isExecuted: true },
  debug_traceBlockByHash: { ...blockHash, isExecuted: true },
  debug_traceBlockByNumber: { ...block(), isExecuted: true },
  trace_block: { ...blockHash, by: 'blockOrHash', isExecuted: true },
  trace_transaction: { ...transactionHash, isExecuted: true },
  trace_get: { ...transactionHash, isExecuted: true },
  trace_replayTransaction: { ...transactionHash, isExecuted: true },
  trace_replayBlockTransactions: { ...block(), isExecuted: true },
}

/** Returns the entries of a node that is a fork, or becomes one. */
export function withRemoteReads(entries: ReadonlyMap<string, Entry<Context>>): ReadonlyMap<string, Entry<Context>> {
  const passed = [...entries].map(([name, entry]): [string, Entry<Context>] => {
    if (!('spec' in entry)) return [name, entry]
    const read = reads[entry.spec.name]
    return [name, read === undefined ? entry : { ...entry, spec: passing(entry.spec, read) }]
  })
  return new Map(passed)
}

function passing(spec: MethodSpec<Context>, read: RemoteRead): MethodSpec<Context> {
  const { method } = spec
  const answer = { block: readBlock, state: readBlock, hash: lookUp, blockOrHash: readBlockOrHash }[read.by]
  return {
    ...spec,
    method: {
      ...method,
      answer: (context, values, request) => {
        const chain = context.mayBeFork[0] === 0 ? null : context.native.forkedChain()
        if (chain === null) return method.answer(context, values, request)
        const answered = chain === 'remote' && read.isExecuted === true ? execute : answer
        return answered(spec, read, context, values, request)
      },
    },
  }
}

/** Answers a trace. If the remote node does not serve what the execution of an older block reads, it is asked for its own trace. */
async function execute(
  spec: MethodSpec<Context>,
  read: RemoteRead,
  context: Context,
  values: readonly unknown[],
  request: RequestContext,
): Promise<Answer> {
  try {
    return await spec.method.answer(context, values, request)
  } catch (error) {
    if (!(error instanceof RpcError && error.code === code.notFound)) throw error
    const asked = await olderTrace(spec, read, context, values, request).catch(() => undefined)
    if (asked === undefined) throw error
    return asked
  }
}

/** Returns the trace of the remote node; undefined if it is not one of an older block. */
async function olderTrace(
  spec: MethodSpec<Context>,
  read: RemoteRead,
  context: Context,
  values: readonly unknown[],
  request: RequestContext,
): Promise<Answer | undefined> {
  const text = String(values[read.at] ?? 'latest')
  if (read.by === 'hash' || hashText.test(text))
    return (await isOlder(text, read, context, request)) ? ask(spec, values, context, request) : undefined
  const number: unknown = JSON.parse(context.native.remoteBlockNumber(text, false))
  return number === null ? undefined : ask(spec, values.with(read.at, number), context, request)
}

type Answered = Answer | Promise<Answer>

/** Answers a method that names a block. */
function readBlock(
  spec: MethodSpec<Context>,
  { by, at }: RemoteRead,
  context: Context,
  values: readonly unknown[],
  request: RequestContext,
): Answered {
  const number: unknown = JSON.parse(context.native.remoteBlockNumber(String(values[at] ?? 'latest'), by === 'state'))
  if (number === null) return spec.method.answer(context, values, request)
  return ask(spec, values.with(at, number), context, request)
}

/** Answers a method that names a block by number, tag or hash. */
function readBlockOrHash(
  spec: MethodSpec<Context>,
  read: RemoteRead,
  context: Context,
  values: readonly unknown[],
  request: RequestContext,
): Answered {
  const answer = hashText.test(String(values[read.at])) ? lookUp : readBlock
  return answer(spec, read, context, values, request)
}

/** Answers a method that names a block or a transaction by its hash. */
async function lookUp(
  spec: MethodSpec<Context>,
  read: RemoteRead,
  context: Context,
  values: readonly unknown[],
  request: RequestContext,
): Promise<Answer> {
  const hash = String(values[read.at])
  // The fork has no transactions of the block that it begins at.
  if (context.native.remoteBlockNumber(hash, false) === 'null') {
    let unknown: RpcError | undefined
    try {
      const found = await spec.method.answer(context, values, request)
      if (found.toString() !== 'null') return found
    } catch (error) {
      // Counts at an unknown block.
      if (!(error instanceof RpcError && error.code === code.invalidRequest)) throw error
      unknown = error
    }
    if (!(await isOlder(hash, read, context, request))) {
      if (unknown !== undefined) throw unknown
      return 'null'
    }
  }
  return ask(spec, values, context, request)
}

/** Whether the other chain has a block or transaction up to the block that the fork begins at. */
async function isOlder(
  hash: string,
  { of, isPositioned }: RemoteRead,
  { native }: Context,
  request: RequestContext,
): Promise<boolean> {
  if (native.forkedChain() === 'local') {
    const look = () => (of === 'block' ? native.ethGetBlockByHash(hash, false) : native.ethGetTransactionByHash(hash))
    const found = JSON.parse(amongOlder(native, look).toString()) as { number?: string; blockNumber?: string } | null
    const number = found?.number ?? found?.blockNumber
    return number != null && native.remoteBlockNumber(number, false) !== 'null'
  }
  // The core compares the number.
  if (isPositioned) return true
  const found =
    of === 'block'
      ? await askRemote('eth_getBlockByHash', [hash, false], native, request)
      : await askRemote('eth_getTransactionByHash', [hash], native, request)
  return found.toString() !== 'null'
}

/** Calls the addon for a directory that a fork continues. */
function amongOlder<R>(native: Addon, call: () => R): R {
  native.readOlderBlocks(true)
  try {
    return call()
  } finally {
    native.readOlderBlocks(false)
  }
}

/** Asks the other chain. */
function ask(
  { name, method }: MethodSpec<Context>,
  values: readonly unknown[],
  context: Context,
  request: RequestContext,
): Answered {
  const { native } = context
  if (native.forkedChain() === 'local') return amongOlder(native, () => method.answer(context, values, request))
  const params = values.slice(0, values.findLastIndex((value) => value !== undefined && value !== '') + 1).map(sent)
  // The only number that a method takes in a list.
  return askRemote(name, name === 'trace_get' ? [params[0], [params[1]]] : params, native, request)
}

function askRemote(name: string, params: readonly unknown[], native: Addon, request: RequestContext): Promise<Answer> {
  return request.run((deadlineMs, token) => native.askRemote(name, JSON.stringify(params), deadlineMs, token))
}

/** Returns a value as a parameter: objects cross as text, and indexes are read as numbers. */
function sent(value: unknown): unknown {
  if (typeof value === 'number') return `0x${value.toString(16)}`
  if (typeof value === 'string' && value.startsWith('{')) return JSON.parse(value)
  return value ?? null
}
