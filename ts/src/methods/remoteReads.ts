import type { Entry, MethodSpec } from '../rpc/dispatch.ts'
import type { Answer } from '../rpc/envelope.ts'
import { code, RpcError } from '../rpc/errors.ts'
import type { RequestContext } from '../rpc/requestContext.ts'
import type { Context } from './context.ts'

// Blocks up to the block that a fork begins at are in the chain of the remote node. Methods that read them are passed on.

/** Parameter by which a method names a block or a transaction. */
interface RemoteRead {
  /** `block`, `state`: a block id, whose block or state is read. `hash`: a hash, which is looked up in the fork first. */
  readonly by: 'block' | 'state' | 'hash'
  /** Position of the parameter. */
  readonly at: number
}

const block = (at = 0): RemoteRead => ({ by: 'block', at })
const state = (at: number): RemoteRead => ({ by: 'state', at })
const hash: RemoteRead = { by: 'hash', at: 0 }

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
  eth_getBlockByHash: hash,
  eth_getHeaderByHash: hash,
  eth_getBlockTransactionCountByHash: hash,
  eth_getUncleCountByBlockHash: hash,
  eth_getUncleByBlockHashAndIndex: hash,
  eth_getTransactionByBlockHashAndIndex: hash,
  eth_getTransactionByHash: hash,
  eth_getTransactionReceipt: hash,
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
  const answer = read.by === 'hash' ? lookUp : readBlock
  return {
    ...spec,
    method: {
      ...method,
      answer: (context, values, request) =>
        context.native.isFork()
          ? answer(spec, read, context, values, request)
          : method.answer(context, values, request),
    },
  }
}

type Answered = Answer | Promise<Answer>

/** Answers a method that names a block. */
function readBlock(
  { name, method }: MethodSpec<Context>,
  { by, at }: RemoteRead,
  context: Context,
  values: readonly unknown[],
  request: RequestContext,
): Answered {
  const number: unknown = JSON.parse(context.native.remoteBlockNumber(String(values[at] ?? 'latest'), by === 'state'))
  if (number === null) return method.answer(context, values, request)
  return ask(name, values.with(at, number), context, request)
}

/** Answers a method that names a block or a transaction by its hash. */
async function lookUp(
  { name, method }: MethodSpec<Context>,
  { at }: RemoteRead,
  context: Context,
  values: readonly unknown[],
  request: RequestContext,
): Promise<Answer> {
  // The fork has no transactions of the block that it begins at.
  if (context.native.remoteBlockNumber(String(values[at]), false) === 'null') {
    try {
      const found = await method.answer(context, values, request)
      if (found.toString() !== 'null') return found
    } catch (error) {
      // Counts at an unknown block.
      if (!(error instanceof RpcError && error.code === code.invalidRequest)) throw error
    }
  }
  return ask(name, values, context, request)
}

/** Asks the remote node. */
function ask(name: string, values: readonly unknown[], { native }: Context, request: RequestContext): Promise<Answer> {
  const params = values.slice(0, values.findLastIndex((value) => value !== undefined && value !== '') + 1).map(sent)
  return request.run((deadlineMs, token) => native.askRemote(name, JSON.stringify(params), deadlineMs, token))
}

/** Returns a value as a parameter: objects cross as text, and indexes are read as numbers. */
function sent(value: unknown): unknown {
  if (typeof value === 'number') return `0x${value.toString(16)}`
  if (typeof value === 'string' && value.startsWith('{')) return JSON.parse(value)
  return value ?? null
}
