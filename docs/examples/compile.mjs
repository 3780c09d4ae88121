// Compiles a contract with solc.
import { readFileSync } from 'node:fs'
import solc from 'solc'

/** ABI, creation code and deployed code of a contract in `file` in the folder of `beside`, compiled for the London rules, which all networks support. */
export function compile(name, beside = import.meta.url, file = name) {
  const source = readFileSync(new URL(`${file}.sol`, beside), 'utf8')
  const input = {
    language: 'Solidity',
    sources: { [`${file}.sol`]: { content: source } },
    settings: {
      evmVersion: 'london',
      optimizer: { enabled: true },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] } },
    },
  }
  const output = JSON.parse(solc.compile(JSON.stringify(input)))
  const problems = (output.errors ?? []).filter(({ severity }) => severity === 'error')
  if (problems.length > 0) throw new Error(problems.map(({ formattedMessage }) => formattedMessage).join('\n'))
  const { abi, evm } = output.contracts[`${file}.sol`][name]
  return { abi, bytecode: `0x${evm.bytecode.object}`, deployed: `0x${evm.deployedBytecode.object}` }
}
