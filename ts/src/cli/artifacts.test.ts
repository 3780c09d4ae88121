import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Interface } from 'ethers'
import { expect, test } from 'vitest'
import { Artifacts } from './artifacts.ts'
import { reasonOf, treeOf } from './callTree.ts'
import { GasReport } from './gasReport.ts'

const abi = ['function pay(address to, uint256 value)', 'error Poor(uint256 balance, uint256 wanted)']
const interfaceOf = new Interface(abi)
const entries = JSON.parse(interfaceOf.formatJson()) as unknown[]
const at = `0x${'ab'.repeat(20)}`
const to = `0x${'42'.repeat(20)}`
/** An immutable of 32 zero bytes, and the address of a library. */
const template = `60ff7f${'00'.repeat(32)}73__$${'1'.repeat(34)}$__55`
const deployed = `0x60ff7f${'12'.repeat(32)}73${'cd'.repeat(20)}55`

function folder(files: Readonly<Record<string, unknown>>): string {
  const root = mkdtempSync(join(tmpdir(), 'rhizome-artifacts-'))
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(root, name, '..'), { recursive: true })
    writeFileSync(join(root, name), typeof content === 'string' ? content : JSON.stringify(content))
  }
  return root
}

const hardhat = {
  'contracts/Bank.sol/Bank.json': {
    contractName: 'Bank',
    abi: entries,
    bytecode: '0x6001',
    deployedBytecode: `0x${template}`,
  },
  'contracts/Bank.sol/Bank.dbg.json': 'not JSON',
  'build-info/1.json': 'not JSON',
}

test('behavior: contracts of Hardhat and of Foundry are known by their code, whatever their immutables and libraries are', async () => {
  const foundry = {
    'Bank.sol/Bank.json': { abi: entries, bytecode: { object: '0x6001' }, deployedBytecode: { object: template } },
  }
  for (const files of [hardhat, foundry]) {
    const artifacts = await Artifacts.read(folder(files))
    expect([artifacts.problems, artifacts.size]).toEqual([[], 1])
    expect(artifacts.nameOf(deployed)).toBe('Bank')
    expect(artifacts.nameOf(deployed.replace('60ff', '60fe'))).toBe(undefined)
    expect(artifacts.createdBy(`0x6001${'00'.repeat(32)}`)).toBe('Bank')
    const call = artifacts.call(interfaceOf.encodeFunctionData('pay', [to, 5n]), deployed)
    expect(call).toEqual({ method: 'pay', text: `pay(${to}, 5)` })
  }
})

test('behavior: signatures of functions, errors and events are listed once', async () => {
  const struct = 'function put((address owner, uint256[] parts)[] items)'
  const event = 'event Paid(address indexed to, uint256 value)'
  const other = JSON.parse(new Interface([...abi, struct, event]).formatJson()) as unknown[]
  const artifacts = await Artifacts.read(folder({ ...hardhat, 'Other.json': { abi: other } }))
  const { functions, events } = artifacts.signatures
  const shown = functions.map(({ name, parameters }) => `${name} ${parameters.map(({ type }) => type)}`)
  expect(shown.toSorted()).toEqual(['Poor uint256,uint256', 'pay address,uint256', 'put (address,uint256[])[]'])
  expect(functions.find(({ name }) => name === 'pay')?.id).toBe(interfaceOf.getFunction('pay')?.selector)
  expect(events).toEqual([
    {
      id: new Interface([event]).getEvent('Paid')?.topicHash,
      name: 'Paid',
      parameters: [
        { name: 'to', type: 'address', isIndexed: true },
        { name: 'value', type: 'uint256', isIndexed: false },
      ],
    },
  ])
})

test('behavior: a failed call is shown with its errors and inner calls', async () => {
  const artifacts = await Artifacts.read(folder(hardhat))
  const output = interfaceOf.encodeErrorResult('Poor', [1n, 2n])
  const input = interfaceOf.encodeFunctionData('pay', [to, 5n])
  const inner = { type: 'DELEGATECALL', to: at, input, error: 'execution reverted', output }
  const call = { type: 'CALL', to: at, input: '0x12345678', error: 'execution reverted', output, calls: [inner] }
  expect(reasonOf(call, artifacts)).toBe('revert Poor(balance: 1, wanted: 2)')
  expect(treeOf(call, artifacts, () => deployed)).toEqual([
    'Bank.0x12345678(...)  failed: revert Poor(balance: 1, wanted: 2)',
    `  Bank.pay(${to}, 5) [delegatecall]  failed: revert Poor(balance: 1, wanted: 2)`,
  ])
  const endless = { type: 'CALL', to: at, input, calls: Array.from({ length: 500 }, () => inner) }
  expect(treeOf(endless, artifacts, () => '0x')).toHaveLength(24)
})

test('error: files that are no artifacts are named, and their names and texts cannot control the terminal', async () => {
  const artifacts = await Artifacts.read(
    folder({
      'Broken.json': '{"abi": [',
      'List.json': { abi: 'none' },
      'Entry.json': { abi: [{ type: 'function', name: 'f', inputs: 'x' }] },
      'Other.json': { compilerOptions: {} },
      'Evil.json': { contractName: 'E\u001b[2J', abi: entries, bytecode: 7, deployedBytecode: '0x01' },
    }),
  )
  expect(artifacts.problems.map((problem) => problem.replace(/.*\/(\w+)\.json: .*/, '$1')).sort()).toEqual([
    'Broken',
    'Entry',
    'List',
  ])
  expect(artifacts.nameOf('0x01')).toBe('E?[2J')
  const input = interfaceOf.encodeFunctionData('pay', [to, 5n])
  expect(artifacts.call(input.slice(0, 20), '0x01')?.text).toBe('pay(address, uint256: undecodable input)')
  expect(artifacts.error('0xffffffff')).toBe(undefined)
  await expect(Artifacts.read('/nowhere/at/all')).rejects.toThrow(
    '--artifacts: /nowhere/at/all cannot be read (ENOENT)',
  )
})

test('behavior: the gas report has a line for each method', () => {
  const report = new GasReport()
  expect(report.lines()).toEqual([])
  for (const gas of [10n, 30n, 21n]) report.add('Bank', 'pay', gas)
  report.add('Bank', 'deployment', 100_000n)
  expect(report.lines()).toEqual([
    'contract  method      calls   least  average    most',
    'Bank      deployment      1  100000   100000  100000',
    'Bank      pay             3      10       20      30',
  ])
})
