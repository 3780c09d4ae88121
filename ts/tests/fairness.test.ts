import { request } from 'node:http'
import { availableParallelism } from 'node:os'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { NodeProcess } from './node.ts'

/** Each runs for its whole time, and is no inline call. */
const endless = '{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{"data":"0x5b600056"},"latest"]}'
/** Uses more than the budget of inline calls, then ends. */
const short = `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{"data":"0x620010005b6001900380600457"},"latest",{}]}`
const wrongSignature = `0xf865808504a817c80082520894${'00'.repeat(20)}80820260a0${'11'.repeat(32)}a0${'11'.repeat(32)}`
const sent = `{"jsonrpc":"2.0","id":1,"method":"eth_sendRawTransaction","params":["${wrongSignature}"]}`

let node: NodeProcess
beforeAll(async () => {
  node = await NodeProcess.start(['--workers', '1'], '[rpc]\ncallGasCap = 9000000000\ntimeoutMs = 1000\n')
})
afterAll(() => node.stop())

/** Sends a request from an address of this machine, on a new connection. */
function post(body: string, localAddress: string): Promise<{ ms: number; text: string }> {
  const startedMs = performance.now()
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' }
    const sending = request(node.url, { method: 'POST', agent: false, localAddress, headers }, (response) => {
      let text = ''
      response.on('data', (piece) => {
        text += piece
      })
      response.on('end', () => resolve({ ms: performance.now() - startedMs, text }))
    })
    sending.on('error', reject)
    sending.end(body)
  })
}

test('behavior: a client with many connections delays neither the calls of another client nor transactions', async () => {
  let isOver = false
  const attack = async () => {
    while (!isOver) await post(endless, '127.0.0.1')
  }
  const attacks = Array.from({ length: 40 }, attack)
  await new Promise((resolve) => setTimeout(resolve, 500))
  // In one line with the attack, each would wait for its whole time, and fail.
  const [called, refused] = await Promise.all([post(short, '127.0.0.2'), post(sent, '127.0.0.1')])
  isOver = true
  await Promise.all(attacks)
  expect(called.text).toContain('"result":"0x"')
  expect(refused.text).toContain('Invalid input')
  expect(refused.ms).toBeLessThan(500)
})

test.runIf(availableParallelism() > 1)(
  'behavior: several clients with endless calls leave a thread to others',
  { timeout: 30_000 },
  async () => {
    let isOver = false
    const attack = async (address: string) => {
      while (!isOver) await post(endless, address)
    }
    const attacks = Array.from({ length: 18 }, (_, index) => attack(`127.0.0.${10 + (index % 6)}`))
    // Until then each has had a turn.
    await new Promise((resolve) => setTimeout(resolve, 4000))
    const calls: { ms: number; text: string }[] = []
    for (let round = 0; round < 5; round++) calls.push(await post(short, '127.0.0.2'))
    isOver = true
    await Promise.all(attacks)
    for (const { text } of calls) expect(text).toContain('"result":"0x"')
    const [, , median] = calls.map(({ ms }) => ms).sort((one, other) => one - other)
    expect(median).toBeLessThan(250)
  },
)
