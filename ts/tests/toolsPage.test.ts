import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Client, clients } from './clients/clients.ts'
import { NodeProcess } from './node.ts'

// docs/tools.md: each block runs as pasted, with the address of the node under test.

const page = readFileSync(fileURLToPath(new URL('../../docs/tools.md', import.meta.url)), 'utf8')
const address = 'http://127.0.0.1:4444'

/** Blocks by tool and file: a fence has `tool/file` after its language. */
function blocksOf(tool: string): ReadonlyMap<string, string> {
  const fences = page.matchAll(/^```\S+ ([^/\s]+)\/(\S+)\n(.*?)^```$/gms)
  return new Map([...fences].filter(([, name]) => name === tool).map(([, , file = '', text = '']) => [file, text]))
}

let node: NodeProcess
beforeAll(async () => {
  node = await NodeProcess.start(['--workers', '1'])
})
afterAll(() => node?.stop())

describe('docs/tools.md', () => {
  test('behavior: every block belongs to a tool', () => {
    const named = [...page.matchAll(/^```\S+ ([^/\s]+)\//gm)].map(([, name]) => name)
    expect(new Set(named)).toEqual(new Set(clients.map(({ name }) => name)))
    expect([...page.matchAll(/^```\w+/gm)]).toHaveLength(named.length)
  })

  for (const client of clients) {
    const reason = client.missing()
    test.skipIf(reason !== undefined)(
      reason === undefined ? `behavior: ${client.name}` : `not run: ${client.name}: ${reason}`,
      { timeout: 180_000 },
      () => runs(client),
    )
  }

  test('behavior: a transaction of type 2 is refused in the words of the page', async () => {
    const [, code, words = ''] = /^(-\d+) (transaction type not valid .*)\.\.\.\)$/m.exec(page) ?? []
    const account = privateKeyToAccount('0xc85ef7d79691fe79573b1a7064c19c1a9819ebdbd1faaab1a8ec92344438aaf4')
    const fees = { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }
    const signed = await account.signTransaction({
      type: 'eip1559',
      chainId: 33,
      to: account.address,
      gas: 21_000n,
      ...fees,
    })
    const { error } = await node.ask('eth_sendRawTransaction', [signed])
    expect(error).toMatchObject({ code: Number(code), message: expect.stringContaining(words) })
    expect(words).toContain('forge and cast --legacy')
  })

  test('behavior: origins that the page promises to accept', async () => {
    const headers = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' }
    for (const origin of ['https://remix.ethereum.org', 'chrome-extension://nkbihfbeogaeaoehlefnkodbefgpgknn']) {
      const preflight = await fetch(node.url, { method: 'OPTIONS', headers: { ...headers, origin } })
      expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, origin])
    }
  })
})

function adapted(blocks: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...blocks].map(([file, text]) => [file, text.replaceAll(address, node.url)]))
}

async function runs(client: Client): Promise<void> {
  const blocks = blocksOf(client.name)
  expect([...blocks.values()].some((text) => text.includes(address))).toBe(true)
  const { code, output } = await client.run(adapted(blocks))
  expect([code, output]).toEqual([0, expect.stringMatching(/deployed at 0x[0-9a-fA-F]{40} answers 42/)])
  const [, deployed] = /deployed at (0x\w{40})/.exec(output) ?? []
  expect(await node.result<string>('eth_getCode', [deployed, 'latest'])).toMatch(/^0x[0-9a-f]{4,}$/)
}
