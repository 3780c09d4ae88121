import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Interface } from 'ethers'
import { afterEach, expect, test } from 'vitest'
import { compile } from '../../docs/examples/compile.mjs'
import { program, scratchFolder } from './node.ts'

// Output of a development node in a terminal.

const first = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const other = '0x00000000000000000000000000000000000000fe'
/** Creation code that deploys one byte of code. */
const creation = '0x600160005360016000f3'
/** Creation code that reverts with `Error("unlucky")`. */
const reverting = `0x${[
  '6308c379a060e01b600052', // selector
  '6020600452', // offset
  '6007602452', // length
  '66756e6c75636b7960c81b604452', // text
  '60646000fd',
].join('')}`

class Terminal {
  output = ''
  errors = ''
  readonly child
  readonly ended: Promise<number | null>

  constructor(...flags: string[]) {
    this.child = spawn(process.execPath, [program, 'start', '--ephemeral', '--http-port', '0', ...flags], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.child.stdout.on('data', (bytes) => {
      this.output += bytes
    })
    this.child.stderr.on('data', (bytes) => {
      this.errors += bytes
    })
    this.ended = new Promise((resolve) => this.child.on('close', resolve))
  }

  async ask(method: string, ...params: unknown[]): Promise<{ result: string; error?: { message: string } }> {
    const url = await this.url()
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    return (await (await fetch(url, { method: 'POST', headers, body })).json()) as never
  }

  /** Lines after the banner. */
  get lines(): string[] {
    return this.output.split('\n').filter((line) => /^(block|back| {2}0x[0-9a-f]{64})/.test(line))
  }

  async url(): Promise<string> {
    await expect.poll(() => this.output, { timeout: 20_000 }).toMatch(/JSON-RPC {2}http\S+/)
    return /JSON-RPC {2}(\S+)/.exec(this.output)?.[1] ?? ''
  }
}

let terminal: Terminal
afterEach(async () => {
  terminal.child.kill('SIGKILL')
  await terminal.ended
})

test('behavior: a line for each transaction and each block', async () => {
  terminal = new Terminal()
  const sent = await terminal.ask('eth_sendTransaction', { from: first, to: other, value: '0x1' })
  const created = await terminal.ask('eth_sendTransaction', { from: first, data: creation, gas: '0x20000' })
  const failed = await terminal.ask('eth_sendTransaction', { from: first, data: reverting, gas: '0x20000' })
  expect(failed.error?.message).toContain('unlucky')
  await expect.poll(() => terminal.lines.length).toBe(6)
  const [one, transfer, two, creationLine, three, failure] = terminal.lines
  expect([one, two, three]).toEqual([
    expect.stringMatching(/^block 1 {2}0x[0-9a-f]{64} {2}1 transaction {2}gas 21000$/),
    expect.stringMatching(/^block 2 /),
    expect.stringMatching(/^block 3 /),
  ])
  expect(transfer).toBe(`  ${sent.result}  ${first} -> ${other}  gas 21000  ok`)
  const { contractAddress } = (await terminal.ask('eth_getTransactionReceipt', created.result)).result as never
  expect(creationLine).toMatch(
    new RegExp(`^  ${created.result}  ${first} -> contract ${contractAddress}  gas \\d+  ok$`),
  )
  expect(failure).toMatch(/ {2}gas \d+ {2}failed: revert unlucky$/)
})

test('behavior: lines of console.log, in the terminal and in the trace', async () => {
  terminal = new Terminal()
  // STATICCALL of console.log(uint256) with 42, in the creation code.
  const selector = `63f82c50f160e01b600052602a600452`
  const logging = `0x${selector}6000600060246000${'6a636f6e736f6c652e6c6f67'}5afa00`
  const { result: hash } = await terminal.ask('eth_sendTransaction', { from: first, data: logging, gas: '0x20000' })
  await expect.poll(() => terminal.output).toContain('\n    console.log: 42\n')
  const { result } = await terminal.ask('debug_traceTransaction', hash, { tracer: 'callTracer' })
  expect(result).toMatchObject({ type: 'CREATE', console: ['42'] })
})

test('behavior: artifacts give names, custom errors and a call tree, and the gas of each method at the end', async () => {
  const folder = scratchFolder()
  const { abi, bytecode, deployed } = compile('Counter')
  writeFileSync(join(folder, 'Counter.json'), JSON.stringify({ abi, bytecode, deployedBytecode: deployed }))
  writeFileSync(join(folder, 'Broken.json'), '{')
  terminal = new Terminal('--artifacts', folder, '--gas-report')
  const counter = new Interface(abi)
  const data = `${bytecode}${'5'.padStart(64, '0')}`
  const created = await terminal.ask('eth_sendTransaction', { from: first, data, gas: '0x80000' })
  const receipt = await terminal.ask('eth_getTransactionReceipt', created.result)
  const { contractAddress: to } = receipt.result as unknown as { contractAddress: string }
  for (const step of [1n, 2n, 5000n]) {
    const call = { from: first, to, data: counter.encodeFunctionData('increase', [step]), gas: '0x80000' }
    await terminal.ask('eth_sendTransaction', call)
  }
  await expect.poll(() => terminal.lines.length).toBe(8)
  expect(terminal.lines[1]).toContain(`-> contract ${to} (Counter)  gas`)
  expect(terminal.lines[5]).toContain(`-> ${to} (Counter.increase)  gas`)
  const failure = 'failed: revert TooMuch(wanted: 5000, most: 1000)'
  expect(terminal.lines[7]).toContain(failure)
  expect(terminal.output).toContain(`\n    Counter.increase(5000)  ${failure}\n`)
  expect(terminal.errors).toMatch(/^--artifacts: .*Broken\.json: /)
  terminal.child.kill('SIGINT')
  expect(await terminal.ended).toBe(0)
  expect(terminal.output).toMatch(/\nCounter +deployment +1 .*\nCounter +increase +3 +\d+ +\d+ +\d+\n/)
})

test('behavior: going back, and an empty block', async () => {
  terminal = new Terminal()
  const { result: snapshot } = await terminal.ask('evm_snapshot')
  await terminal.ask('evm_mine')
  await expect.poll(() => terminal.lines.length).toBe(1)
  await terminal.ask('evm_revert', snapshot)
  await expect.poll(() => terminal.lines.at(-1)).toBe('back to block 0')
  await terminal.ask('hardhat_mine', '0x64')
  await expect.poll(() => terminal.lines.length).toBe(102)
  expect(terminal.lines.at(-1)).toMatch(/^block 100 .* 0 transactions {2}gas 0$/)
})

test('behavior: anvil_setLoggingEnabled turns the lines off and on', async () => {
  terminal = new Terminal()
  await terminal.ask('evm_mine')
  await expect.poll(() => terminal.lines.length).toBe(1)
  await terminal.ask('anvil_setLoggingEnabled', false)
  await terminal.ask('hardhat_mine', '0x5')
  // The line is printed after the answer.
  await new Promise((resolve) => setTimeout(resolve, 500))
  await terminal.ask('hardhat_setLoggingEnabled', true)
  await terminal.ask('evm_mine')
  await expect.poll(() => terminal.lines.length).toBe(2)
  expect(terminal.lines[1]).toMatch(/^block 7 /)
})

test('behavior: --quiet prints nothing, --json one line', async () => {
  for (const [flags, expected] of [
    [['--quiet', '--block-time', '0.2'], /^$/],
    [['--json', '--block-time', '0.2'], /^\{.*\}\n$/],
  ] as const) {
    terminal = new Terminal(...flags)
    await new Promise((resolve) => setTimeout(resolve, 2500))
    terminal.child.kill('SIGINT')
    expect(await terminal.ended).toBe(0)
    expect([terminal.output, terminal.errors]).toEqual([expect.stringMatching(expected), ''])
  }
})

test('behavior: a reader that stops reading does not hold the node up', async () => {
  terminal = new Terminal()
  const url = await terminal.url()
  terminal.child.stdout.pause()
  const { result: filter } = await terminal.ask('eth_newBlockFilter')
  // More lines than the buffer of a pipe.
  for (let part = 0; part < 6; part++) await terminal.ask('hardhat_mine', '0x100')
  const hashes = (await terminal.ask('eth_getFilterChanges', filter)).result
  expect([url.length > 0, hashes]).toEqual([true, expect.objectContaining({ length: 1536 })])
  terminal.child.kill('SIGINT')
  terminal.child.stdout.resume()
  expect(await terminal.ended).toBe(0)
})
