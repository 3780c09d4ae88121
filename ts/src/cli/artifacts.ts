import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { ErrorFragment, EventFragment, FunctionFragment, Interface, Result } from 'ethers'
import { ConfigError } from '../config/error.ts'
import type { KnownSignature, KnownSignatures } from '../explorer/settings.ts'
import { shown } from './failureText.ts'

/** Files read at most, and bytes of one. */
const maxFiles = 20_000
const maxFileBytes = 32 * 2 ** 20
/** Folders of compilers without artifacts. */
const otherFolders = ['build-info', 'cache', 'node_modules']
const selectorCharacters = 10

/** A compiled contract. */
interface Contract {
  readonly name: string
  readonly abi: Interface
  /** Code after deployment, hex without 0x. Immutables are zero, addresses of libraries placeholders. */
  readonly deployed: string
  readonly creation: string
}

/** Contracts of the artifacts folder of Hardhat or Foundry, to name and decode calls. */
export class Artifacts {
  readonly #contracts: readonly Contract[]
  readonly #byLength = new Map<number, Contract[]>()
  readonly #byCode = new Map<string, Contract | undefined>()
  readonly #functions = new Map<string, { abi: Interface; fragment: FunctionFragment }>()
  readonly #errors = new Map<string, { abi: Interface; fragment: ErrorFragment }>()
  /** Files that are no artifacts, or whose ABI cannot be read. */
  readonly problems: readonly string[]

  private constructor(contracts: readonly Contract[], problems: readonly string[]) {
    this.#contracts = contracts
    this.problems = problems
    for (const contract of contracts) {
      const { abi, deployed } = contract
      this.#byLength.set(deployed.length, [...(this.#byLength.get(deployed.length) ?? []), contract])
      abi.forEachFunction((fragment) => this.#functions.set(fragment.selector, { abi, fragment }))
      abi.forEachError((fragment) => this.#errors.set(fragment.selector, { abi, fragment }))
    }
  }

  /** Reads a folder. Throws ConfigError if it cannot be read. */
  static async read(folder: string): Promise<Artifacts> {
    const { Fragment, Interface } = await import('ethers')
    const problems: string[] = []
    const contracts: Contract[] = []
    for (const file of artifactFiles(folder)) {
      try {
        const found = readArtifact(file)
        if (found === undefined) continue
        const { name, entries, deployed, creation } = found
        const fragments = entries.map((entry) => Fragment.from(entry as Parameters<typeof Fragment.from>[0]))
        contracts.push({ name, abi: new Interface(fragments), deployed, creation })
      } catch (error) {
        problems.push(`${file}: ${shown((error as Error).message.split('\n')[0] ?? '')}`)
      }
    }
    return new Artifacts(contracts, problems)
  }

  get size(): number {
    return this.#contracts.length
  }

  /** Returns functions, errors and events of all contracts. */
  get signatures(): KnownSignatures {
    const functions = new Map<string, KnownSignature>()
    const events = new Map<string, KnownSignature>()
    for (const { abi } of this.#contracts) {
      const add = (fragment: FunctionFragment | ErrorFragment) =>
        functions.set(fragment.selector, signatureOf(fragment.selector, fragment))
      abi.forEachFunction(add)
      abi.forEachError(add)
      abi.forEachEvent((fragment) => {
        // The same topic may have other indexed parameters.
        const signature = signatureOf(fragment.topicHash, fragment)
        const indexed = signature.parameters.map(({ isIndexed }) => Number(isIndexed)).join('')
        if (!fragment.anonymous) events.set(`${signature.id} ${indexed}`, signature)
      })
    }
    return { functions: [...functions.values()], events: [...events.values()] }
  }

  /** Returns the name of the contract with this code, hex with 0x. */
  nameOf(code: string): string | undefined {
    return this.#contractWith(code)?.name
  }

  /** Returns the name of the contract that this input of a transaction creates. */
  createdBy(input: string): string | undefined {
    const code = input.slice(2)
    return this.#contracts.find(
      ({ creation }) => creation !== '' && isInstance(code.slice(0, creation.length), creation),
    )?.name
  }

  /** Returns name and arguments of a call, as `transfer(0x…, 5)`; undefined for an unknown selector. */
  call(input: string, code: string): { readonly method: string; readonly text: string } | undefined {
    const selector = input.slice(0, selectorCharacters)
    const own = this.#contractWith(code)?.abi
    const fragment = own?.getFunction(selector)
    const found = own && fragment ? { abi: own, fragment } : this.#functions.get(selector)
    if (found === undefined) return undefined
    const { name, inputs } = found.fragment
    try {
      const values = found.abi.decodeFunctionData(found.fragment, input)
      return { method: name, text: `${name}(${listed(values)})` }
    } catch {
      return { method: name, text: `${name}(${inputs.map(({ type }) => type).join(', ')}: undecodable input)` }
    }
  }

  /** Returns a custom error with its arguments; undefined for an unknown one. */
  error(output: string): string | undefined {
    const found = this.#errors.get(output.slice(0, selectorCharacters))
    if (found === undefined) return undefined
    try {
      const values = found.abi.decodeErrorResult(found.fragment, output)
      return shown(
        `${found.fragment.name}(${listed(
          values,
          found.fragment.inputs.map(({ name }) => name),
        )})`,
      )
    } catch {
      return undefined
    }
  }

  #contractWith(code: string): Contract | undefined {
    if (this.#byCode.has(code)) return this.#byCode.get(code)
    const candidates = this.#byLength.get(code.length - 2) ?? []
    const text = code.slice(2).toLowerCase()
    const found =
      candidates.find(({ deployed }) => deployed === text) ??
      candidates.find(({ deployed }) => deployed !== '' && isInstance(text, deployed))
    if (this.#byCode.size >= maxFiles) this.#byCode.clear()
    this.#byCode.set(code, found)
    return found
  }
}

function signatureOf(id: string, { name, inputs }: Pick<EventFragment, 'name' | 'inputs'>): KnownSignature {
  const parameters = inputs.map((one) => ({
    name: one.name,
    type: one.format('sighash'),
    isIndexed: one.indexed === true,
  }))
  return { id, name, parameters }
}

/** Returns the JSON files of a folder. */
function artifactFiles(folder: string): string[] {
  const files: string[] = []
  const waiting = [folder]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    let entries: ReturnType<typeof readEntries>
    try {
      entries = readEntries(next)
    } catch (error) {
      throw new ConfigError([`--artifacts: ${next} cannot be read (${(error as NodeJS.ErrnoException).code ?? error})`])
    }
    for (const entry of entries) {
      const path = join(next, entry.name)
      if (entry.isDirectory() && !otherFolders.includes(entry.name)) waiting.push(path)
      if (entry.isFile() && entry.name.endsWith('.json') && !entry.name.endsWith('.dbg.json')) files.push(path)
    }
    if (files.length > maxFiles) throw new ConfigError([`--artifacts: ${folder} has more than ${maxFiles} files`])
  }
  return files
}

function readEntries(folder: string) {
  return readdirSync(folder, { withFileTypes: true })
}

interface Artifact {
  readonly name: string
  readonly entries: readonly unknown[]
  readonly deployed: string
  readonly creation: string
}

/** Reads an artifact; undefined for JSON without an ABI. Throws if it is no JSON, or too large. */
function readArtifact(file: string): Artifact | undefined {
  if (statSync(file).size > maxFileBytes) throw new Error(`more than ${maxFileBytes / 2 ** 20} MB`)
  const content: unknown = JSON.parse(readFileSync(file, 'utf8'))
  if (typeof content !== 'object' || content === null || !('abi' in content)) return undefined
  const { abi, contractName, bytecode, deployedBytecode } = content as Record<string, unknown>
  if (!Array.isArray(abi)) throw new Error('abi is no list')
  const name = typeof contractName === 'string' ? contractName : basename(file, '.json')
  return { name: shown(name), entries: abi, deployed: codeIn(deployedBytecode), creation: codeIn(bytecode) }
}

/** Returns code as hex without 0x: Hardhat writes a text, Foundry an object. */
function codeIn(value: unknown): string {
  const text = typeof value === 'object' && value !== null && 'object' in value ? value.object : value
  return typeof text === 'string' ? text.replace(/^0x/, '').toLowerCase() : ''
}

/** Whether code is that of an artifact, apart from immutables, which are zero there, and addresses of libraries. */
function isInstance(code: string, template: string): boolean {
  if (code.length !== template.length) return false
  const plain = template.replaceAll(/__.{36}__/g, '0'.repeat(40))
  for (let at = 0; at < code.length; at++) {
    if (code[at] !== plain[at] && plain[at] !== '0') return false
  }
  return true
}

function listed(values: Result, names: readonly string[] = []): string {
  return [...values].map((value, index) => (names[index] ? `${names[index]}: ${value}` : String(value))).join(', ')
}
