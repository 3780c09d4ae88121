import { expect, test } from 'vitest'
import { NodeProcess } from './node.ts'

interface Document {
  readonly openrpc: string
  readonly methods: readonly { readonly name: string; readonly params: readonly { readonly required: boolean }[] }[]
}

test('behavior: rpc.discover lists exactly the served methods', async () => {
  const node = await NodeProcess.start([], 'modules.sco.enabled = false\nmodules.eth.deny = ["eth_coinbase"]')
  const { openrpc, methods } = await node.result<Document>('rpc.discover')
  expect(openrpc).toBe('1.3.2')
  const names = methods.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['eth_getBalance', 'chain_protocolVersion', 'rpc_discover']))
  for (const missing of ['sco_peerList', 'eth_coinbase']) {
    expect(names).not.toContain(missing)
    expect((await node.ask(missing)).error?.code).toBe(-32601)
  }
  // With one parameter too many, a served method rejects the parameters; any other method is not found.
  for (const { name, params } of methods.filter(({ name }) => !name.endsWith('subscribe'))) {
    const { error } = await node.ask(name, Array(params.length + 1).fill(0))
    expect([name, error?.code]).toEqual([name, -32602])
  }
  await node.stop()
})
