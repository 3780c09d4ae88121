import type { Addon } from '../src/native/bindings.ts'
import { guarded, loadAddon } from '../src/native/load.ts'
import { isTooDeep } from '../src/rpc/levels.ts'

/** Text of single requests, as JSON.stringify writes it. */
function split(text: string): object {
  if (isTooDeep(text)) return { fault: 'TooDeep' }
  let params: unknown[] = []
  try {
    params = (JSON.parse(text) as { params?: unknown[] }).params ?? []
  } catch {
    return { fault: 'NotJson' }
  }
  const places = ['id', 'method'].flatMap((name) => {
    const found = new RegExp(`"${name}":("[^"]*"|[^,}]+)`, 'd').exec(text)
    return found?.indices?.[1] ?? [0, 0]
  })
  let from = text.indexOf('"params":[')
  const ofParams = params.flatMap((value) => {
    const written = JSON.stringify(value)
    const start = text.indexOf(written, from)
    from = start + written.length
    return [start, from]
  })
  return { isBatch: false, requests: [[0, ...places, params.length, ...ofParams]] }
}

/** The functions for large bodies, which are buffers here. */
function fakeBodies(): Partial<Addon> {
  const bodies = new Map<object, Buffer>()
  const of = (handle: object): Buffer => bodies.get(handle) ?? Buffer.alloc(0)
  return {
    openBody: () => {
      const handle = {}
      bodies.set(handle, Buffer.alloc(0))
      return handle
    },
    addToBody: (handle, piece) => {
      bodies.set(handle, Buffer.concat([of(handle), piece]))
    },
    splitBody: async (handle) => JSON.stringify(split(of(handle).toString())),
    bodyText: (handle, start, end) => of(handle).toString('utf8', start, end),
    bodyBytes: (handle, start, end) => of(handle).subarray(start, end),
    bodyPart: (handle, start, end) => of(handle).subarray(start, end),
    closeBody: (handle) => {
      bodies.delete(handle)
    },
  }
}

/** An addon that answers a few methods from memory, for tests of the layers above it. */
export function fakeAddon(cancelled: number[] = []): Addon {
  const answers: Partial<Addon> = {
    forkedChain: () => null,
    releaseBuffers: (buffers) => loadAddon().releaseBuffers(buffers),
    netVersion: () => '"33"',
    ethChainId: () => '"0x21"',
    web3Sha3: (data) => JSON.stringify(`hash of ${String(data).length}`),
    ethGetBalance: (address, block) => JSON.stringify([address, block]),
    ethGetCode: () => Buffer.from(`"0x${'ab'.repeat(100_000)}"`),
    ethGetBlockByNumber: () => JSON.stringify({ extraData: 'x'.repeat(5000) }),
    ethCall: async (_call, _block, _state, _pretended, _deadlineMs, token) => {
      const started = performance.now()
      while (performance.now() - started < 2000) {
        if (cancelled.includes(token)) break
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      return '"0x"'
    },
    ethEstimateGas: async () => {
      throw new Error(
        '{"code":-32015,"message":"VM Exception while processing transaction: revert no","data":"0x08c379a0"}',
      )
    },
    ethGasPrice: () => {
      throw new Error('{"code":-32005,"message":"Server overloaded"}')
    },
    ethAccounts: () => {
      throw new Error('secret of the core')
    },
    nodeFigures: () =>
      JSON.stringify({
        number: 7,
        hash: '0xab',
        timestamp: 1000,
        highestBlock: 9,
        store: { isWriteStopped: false, writeFault: null },
        sync: null,
        network: null,
        fleet: null,
      }),
    ...fakeBodies(),
    cancelExecution: (token) => {
      cancelled.push(token)
    },
  }
  return guarded(answers)
}
