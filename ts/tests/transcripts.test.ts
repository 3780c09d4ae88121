import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { table } from '../src/methods/table.ts'
import { NodeProcess, runCommand, scratchFolder } from './node.ts'
import { bodyOf, judge, type Step, transcript, vectorFile } from './transcripts.ts'

// Transcripts are compared with the choices of the reference.
// Only for estimates the transcripts demand the document's (D24).
const choices = 'compat = "reference"\nchoices.failedEstimate = "estimate"\n'
const settings = `${choices}mining = "off"\n`
const served = new Set(table.flatMap((row) => [row.name, ...(row.alias === undefined ? [] : [row.alias])]))

/**
 * Methods that come later are left out, unless the reference does not serve them either. So is net_listening: this node
 * has no port for peers yet.
 */
function isComparable(step: Step): boolean {
  const method = step.request?.method
  if (method === 'net_listening') return false
  if (step.kind === 'http') return step.request?.httpMethod === 'POST'
  if (step.kind !== 'rpc' || typeof method !== 'string') return false
  const { error } = (step.response ?? {}) as { error?: { code: number; message: string } }
  if (served.has(method)) return true
  return error?.code === -32601 && error.message === 'method not found'
}

function replay(node: () => NodeProcess, name: string, isWanted: (step: Step) => boolean = () => true): void {
  const steps = transcript(name).filter((step) => isComparable(step) && isWanted(step))
  const captured = new Map<string, unknown>()
  test.each(
    steps.map((step) => [step.n, String(step.request?.method ?? step.note ?? ''), step] as const),
  )(`${name} step %i %s`, async (_n, _method, step) => {
    const headers = (step.request?.headers as Record<string, string> | undefined) ?? {
      'content-type': 'application/json',
    }
    const bound = withBinds(step, captured)
    const got = await node().post(bodyOf(bound) ?? '', headers)
    for (const [variable] of Object.entries(step.captures ?? {}))
      captured.set(variable, (got.body as { result: unknown }).result)
    const ask = async (method: string, params: unknown[]) => {
      const { result, error } = await node().ask(method, params)
      return result ?? error
    }
    expect(await judge(step, got, ask)).toBeUndefined()
  })
}

function withBinds(step: Step, captured: Map<string, unknown>): Step {
  if (step.binds === undefined) return step
  const request = structuredClone(step.request) as { params: unknown[] }
  for (const [path, variable] of Object.entries(step.binds)) {
    const index = Number(/\[(\d+)\]/.exec(path)?.[1])
    request.params[index] = captured.get(variable)
  }
  return { ...step, request: request as unknown as Record<string, unknown> }
}

describe('a node at genesis', () => {
  let node: NodeProcess
  beforeAll(async () => {
    node = await NodeProcess.start([], settings)
  })
  afterAll(() => node?.stop())
  replay(() => node, '02-envelope-batch')
  replay(() => node, '03-identity-and-unsupported')
  replay(() => node, '04-parameter-errors')
})

/** Block 9 of chain A calls the Bridge, which ends the import: reads of the blocks before can be compared. */
const lastBlock = 8

describe(`a node that holds chain A up to block ${lastBlock}`, () => {
  const lines = vectorFile('chain-a.blocks')
    .toString()
    .trim()
    .split('\n')
    .slice(0, lastBlock + 1)
  const known = new Set(lines.map((line) => `0x${line.split(',')[1]}`))
  for (const { response } of transcript('21-reads-transactions')) {
    const { result } = response as { result?: { blockNumber?: string; hash?: string } | null }
    if (Number(result?.blockNumber ?? Number.NaN) <= lastBlock) known.add(result?.hash ?? '')
  }
  let node: NodeProcess
  beforeAll(async () => {
    const folder = scratchFolder()
    const file = join(folder, 'chain-a.blocks')
    writeFileSync(file, `${lines.join('\n')}\n`)
    const { code, errors } = await runCommand(['import', file, '--data-dir', join(folder, 'data')])
    if (code !== 0) throw new Error(errors)
    node = await NodeProcess.start(['--data-dir', join(folder, 'data')], settings)
  })
  afterAll(() => node?.stop())

  /** The step names a block or transaction up to there, and nothing that depends on what came later. */
  const isBefore = (step: Step): boolean => {
    const params = (step.request?.params ?? []) as unknown[]
    const text = JSON.stringify(params)
    const isOfHead = /latest|pending|Filter|0x9999|^\[\{\}\]/.test(text + String(step.request?.method))
    if (isOfHead || (step.request?.method === 'eth_estimateGas' && params.length === 1)) return false
    const hashes = text.match(/0x[0-9a-f]{64}(?![0-9a-f])/g) ?? []
    return hashes.length > 0 ? hashes.every((hash) => known.has(hash)) : /"0x[0-8]"|earliest/.test(text)
  }
  for (const name of [
    '20-reads-blocks',
    '21-reads-transactions',
    '22-reads-state',
    '23-reads-calls',
    '24-reads-logs',
  ]) {
    replay(() => node, name, isBefore)
  }
})

describe('a node with instant mining', () => {
  let node: NodeProcess
  beforeAll(async () => {
    node = await NodeProcess.start([], `${choices}mining = "auto"\n`)
  })
  afterAll(() => node?.stop())
  // What was sent is not refused in the recording: only the refusals can be compared.
  replay(
    () => node,
    '38-lenient-sends',
    (step) => step.request?.method === 'eth_sendTransaction',
  )
})

describe('a node with instant mining, from the beginning', () => {
  let node: NodeProcess
  beforeAll(async () => {
    node = await NodeProcess.start([], `${choices}mining = "auto"\n`)
  })
  afterAll(() => node?.stop())
  replay(() => node, '30-scenario-automine')
})
