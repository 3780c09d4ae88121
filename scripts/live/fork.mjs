// A fork of a reference node's chain, compared with the reference: calls, estimates, traces, reads of the Bridge, transactions.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { gzipSync } from 'node:zlib'
import { Random } from '../random.mjs'
import { bridge, makeChain, mined, mineTogether, token } from './forkChain.mjs'
import { Questions } from './forkQuestions.mjs'
import { LiveNode, withNodes } from './nodes.mjs'
import { fail } from './report.mjs'

const questionCount = 500
const transactionCount = 200
/** Blocks of the chain. */
const height = 2000
/** Transactions of the last one, and the gas limit of each: together less than that of a block. */
const lastTransactions = 16
const lastGas = 400_000n
/** Round trips of the first call of a token. */
const coldRequests = 4
const referenceSettings = {
  'rpc.modules.rsk.methods.disabled.0': 'rsk_shutdown',
  'transaction.accountTxRateLimit.enabled': false,
  'rpc.modules.debug.enabled': true,
  'rpc.modules.trace.enabled': true,
}
const remasc = '0x0000000000000000000000000000000001000008'
/** Methods that a fork may send: state, blocks, the block of a transaction, and what opening needs. */
const reads = new Set([
  'eth_chainId',
  'eth_getBalance',
  'eth_getTransactionCount',
  'eth_getCode',
  'eth_getStorageAt',
  'rsk_getStorageBytesAt',
  'eth_getBlockByNumber',
  'eth_getBlockByHash',
  'eth_getTransactionByHash',
  'eth_getUncleByBlockHashAndIndex',
])

/** Runs the check. `record`: file for the answers of the reference. */
export async function fork({ program, seed, record }) {
  const folder = mkdtempSync(join(tmpdir(), 'rhizome-fork-'))
  try {
    await withNodes((started) => compare(started, { program, seed, record, folder }))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function compare(started, { program, seed, record, folder }) {
  const reference = await started(LiveNode.reference(program, [], referenceSettings))
  const random = new Random(seed)
  const begun = performance.now()
  const { places, signer } = await makeChain(reference, height, random)
  const questions = new Questions(places, height, random)
  const last = []
  for (let count = 0; count < lastTransactions; count++) {
    const { wallet, ...fields } = questions.shortTransaction()
    last.push(await signer.sign(wallet, { ...fields, gas: lastGas }))
  }
  const { hash, transactions } = await mineTogether(reference, last)
  const hashesOf = (some) => some.map((transaction) => transaction.hash)
  const plain = transactions.filter((transaction) => !mayCall(transaction))
  questions.traced = { hash, transactions: hashesOf(transactions), plain: hashesOf(plain) }
  const number = await reference.number()
  say(`a chain of ${number} blocks in ${((performance.now() - begun) / 1000).toFixed(1)} s, seed ${seed}`)
  const proxy = await RecordingProxy.start(reference.url)
  try {
    const open = (cache) => started(LiveNode.fork(proxy.url, number, join(folder, cache)))
    const cold = await coldCalls(open, proxy, places)
    const own = await open('main')
    proxy.take()
    const asked = Array.from({ length: questionCount }, () => questions.question())
    const first = await answersOf(reference, asked)
    const counted = { questions: await differences(own, asked, first), ...proxy.counts() }
    say(
      `${asked.length} questions: ${counted.questions} differ; ${counted.requests} requests, ${counted.methods.join(', ')}`,
    )
    checkReads(proxy)
    const transactions = Array.from({ length: transactionCount }, () => questions.transaction())
    const signed = []
    for (const { wallet, ...fields } of transactions) signed.push(await signer.sign(wallet, fields))
    await own.ask('evm_mine')
    await reference.ask('evm_mine')
    const second = await answersOf(reference, asked)
    const later = await differences(own, asked, second)
    say(`the same after a block of each: ${later} differ`)
    const receipts = []
    let wrong = 0
    for (const raw of signed) {
      const expected = essence(await mined(reference, raw, false))
      const found = essence(await mined(own, raw, true))
      receipts.push(expected)
      if (!isDeepStrictEqual(found, expected)) {
        wrong++
        show(['eth_sendRawTransaction', raw], found, expected)
      }
    }
    say(`${signed.length} transactions: ${wrong} differ`)
    checkReads(proxy)
    await own.stop()
    proxy.take()
    const again = await open('main')
    const repeated = await differences(again, asked, first)
    say(`a second run: ${repeated} differ, ${proxy.requests} requests`)
    if (proxy.requests > 0) fail('fork', `${proxy.requests} requests, none wanted`)
    if (counted.questions + later + wrong + repeated > 0) fail('fork', 'the fork differs from the reference')
    if (record !== undefined) {
      const recording = {
        seed,
        number,
        answers: proxy.answers,
        questions: asked.map((question, index) => [question, first[index], second[index]]),
        transactions: signed.map((raw, index) => [raw, receipts[index]]),
        cold,
      }
      const file = gzipSync(JSON.stringify(recording), { level: 9 })
      writeFileSync(record, file)
      say(`${file.length} bytes in ${record}`)
    }
  } finally {
    proxy.stop()
  }
}

/** Whether a transaction may call a contract with storage. Others create one, or call the Bridge or REMASC. */
function mayCall({ to }) {
  return to !== null && to !== bridge && to !== remasc
}

/** Calls tokens on forks without a cache, as soon as those answer. Returns the calls. */
async function coldCalls(open, proxy, { tokens, accounts }) {
  const calls = []
  for (const [index, to] of tokens.entries()) {
    const cold = await open(`cold${index}`)
    proxy.take()
    calls.push({ to, data: token.encodeFunctionData('balanceOf', [accounts[3]]) })
    await cold.ask('eth_call', calls[index], 'latest')
    say(`the first balanceOf of ${index === 0 ? 'a token' : 'a token behind a proxy'}: ${proxy.requests} requests`)
    for (const batch of proxy.batches) say(`  ${batch.join(', ')}`)
    if (proxy.requests > coldRequests) fail('fork', `${proxy.requests} requests, at most ${coldRequests} wanted`)
    await cold.stop()
  }
  return calls
}

function say(text) {
  process.stdout.write(`fork: ${text}\n`)
}

function checkReads(proxy) {
  const others = [...proxy.names].filter((name) => !reads.has(name))
  if (others.length > 0) fail('fork', `the fork sent ${others.join(', ')}`)
}

/** Returns the members of a receipt that do not depend on hashes of blocks. */
function essence(receipt) {
  if (receipt === null) return null
  const { status, gasUsed, cumulativeGasUsed, contractAddress, logs, logsBloom, blockNumber, to, from } = receipt
  const shown = logs.map(({ address, topics, data, logIndex }) => ({ address, topics, data, logIndex }))
  return { status, gasUsed, cumulativeGasUsed, contractAddress, logs: shown, logsBloom, blockNumber, to, from }
}

async function answersOf(node, asked) {
  const answers = []
  for (const question of asked) answers.push(await node.answer(...question))
  return answers
}

async function differences(node, asked, expected) {
  let count = 0
  for (const [index, question] of asked.entries()) {
    const found = await node.answer(...question)
    if (isDeepStrictEqual(found, expected[index])) continue
    count++
    show(question, found, expected[index])
  }
  return count
}

function show(question, found, expected) {
  process.stdout.write(
    `  ${JSON.stringify(question).slice(0, 600)}\n    fork      ${JSON.stringify(found).slice(0, 500)}\n    reference ${JSON.stringify(expected).slice(0, 500)}\n`,
  )
}

/** A proxy that records the answers of a node by method and parameters. */
class RecordingProxy {
  #server
  answers = {}
  names = new Set()
  batches = []
  requests = 0

  static async start(target) {
    const proxy = new RecordingProxy()
    proxy.#server = createServer(async (request, response) => {
      const chunks = []
      for await (const chunk of request) chunks.push(chunk)
      const body = Buffer.concat(chunks).toString()
      const calls = [JSON.parse(body)].flat()
      proxy.requests++
      proxy.batches.push(calls.map(({ method, params }) => `${method} ${String(params[0]).slice(0, 10)}`))
      for (const { method } of calls) proxy.names.add(method)
      const answer = await fetch(target, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      const text = await answer.text()
      for (const { id, result, error } of [JSON.parse(text)].flat()) {
        const call = calls.find((one) => one.id === id)
        if (call !== undefined)
          proxy.answers[`${call.method} ${JSON.stringify(call.params)}`] = error === undefined ? { result } : { error }
      }
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text)
    })
    await new Promise((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  get url() {
    return `http://127.0.0.1:${this.#server.address().port}`
  }

  counts() {
    return { requests: this.requests, methods: [...this.names] }
  }

  /** Begins to count. */
  take() {
    this.names.clear()
    this.batches = []
    this.requests = 0
  }

  stop() {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}
