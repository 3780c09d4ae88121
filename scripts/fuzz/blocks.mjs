// Mutants of blocks in a search against a reference node: which of them each node accepts. This node judges a mutant as the
// child of its best block, the reference as a block beside its best chain.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Transaction } from 'ethers'
import { decode, digits, encode, keccak, numberOf, read } from './encoding.mjs'
import { Mutable, mutate } from './mutants.mjs'
import { field } from './seal.mjs'
import { remasc } from './transactionChanges.mjs'

const mutantsPerBlock = 12
/** Blocks at the end of the chain without mutants: with its uncles a mutant must not be heavier than the chain. */
const spared = 16
/** Steps to the values that a block must state: each import names one of them. */
const maxSteps = 8
const generations = 10
/** Mutants that this node cannot decode and the reference reads: it has to be started for each. */
const readAlone = 2
/** Blocks of the chain that are mutants. */
const heirs = 10
/** Longer chains are not continued: their blocks would commit to older ones. */
const longest = 400
/** Seconds; the clock of a chain does not go beyond. */
const latest = 2n ** 32n
const empty = Buffer.alloc(0)
const emptyList = Buffer.from([0xc0])
/** Texts of values that an import computes, with the element of the header that must state each. */
const computed = [
  [/transactions root \S+, (?:the transactions have|computed) 0x(\w+)/, field.transactionsRoot],
  [/state root \S+, computed 0x(\w+)/, field.stateRoot],
  [/receipts root \S+, computed 0x(\w+)/, field.receiptsRoot],
  [/logs bloom \S+, computed 0x(\w+)/, field.bloom],
  [/gas used \d+, computed (\d+)/, field.gasUsed],
  [/paid fees \d+, computed (\d+)/, field.paidFees],
]
const decimal = [field.gasUsed, field.paidFees]

/** Makes mutants of the blocks of a chain and asks this node about each. */
export class BlockMutants {
  count = 0
  /** Mutants that this node can decode, and the blocks of the chain behind that of the reference. */
  #readable = []
  #unreadable = []
  /** Labels of accepted blocks by height and hash. */
  #accepted = new Map()
  #random
  #rules
  #keys
  #node
  #file
  #chain = []

  /**
   * `keys`: private keys by address. `node`: `ask(method, params)` and `importBlocks(file)`, which throws the reason of a
   * refusal.
   */
  constructor({ random, rules, keys, node, folder }) {
    this.#random = random
    this.#rules = rules
    this.#keys = keys
    this.#node = node
    this.#file = join(folder, 'mutant')
  }

  /** Imports the lines of a block file; before some of them mutants of their blocks, which are deleted again. */
  async import(lines) {
    for (const [height, line] of lines.entries()) {
      const [, hash, difficulty, raw] = line.split(',')
      const [header, transactions, uncles] = decode(Buffer.from(raw, 'hex'))
      if (height > 0 && height < lines.length - spared && this.#random.isOne(4)) {
        const block = new Mutable(
          header,
          transactions.map((fields) => this.#transaction(fields)),
          uncles,
        )
        await this.#judgeMutants(block, height)
        this.#accepted.get(height).set(`0x${hash}`, `block ${height}`)
      }
      if (height > 0) await this.#append(line)
      this.#chain.push({ header, hash: Buffer.from(hash, 'hex'), difficulty: BigInt(`0x${difficulty}`) })
    }
    if (this.#chain.length < longest) await this.#extend()
  }

  /**
   * Continues the chain by mutants, then by blocks without damage, which pay the miners of the mutants and are heavier than
   * any mutant.
   */
  async #extend() {
    for (let made = 0; made < heirs + spared; made++) {
      const number = this.#chain.length
      const plain = this.#plainBlock(number)
      const found = made < heirs ? await this.#judgeMutants(plain, number) : []
      this.#accepted.set(number, this.#accepted.get(number) ?? new Map())
      const model = new Mutable(plain.header, plain.transactions, [])
      await this.#complete(model, number)
      const whole = await this.#verdict(model, number, model.encode(this.#rules))
      if (!whole.isAccepted) throw new Error(`block ${number}: ${whole.text}`)
      const likely = found.filter(({ header }) => numberOf(read(header[field.timestamp])) < latest)
      const next = this.#random.pick([...likely, { ...whole, header: model.header, label: `block ${number}` }])
      await this.#append(next.line)
      this.#accepted.get(number).set(next.hash, next.label)
      this.#readable.push(next)
      this.#chain.push({
        header: next.header,
        hash: Buffer.from(next.hash.slice(2), 'hex'),
        difficulty: next.difficulty,
      })
    }
  }

  /** Returns a child of the last block, with the transaction that pays the miners. */
  #plainBlock(number) {
    const { header, hash } = this.#chain.at(-1)
    const positions = this.#rules.positions(number)
    const price = digits(numberOf(read(header[field.minimumGasPrice])))
    const elements = Array.from({ length: positions.bitcoinHeader }, () => empty)
    elements[field.parentHash] = hash
    elements[field.unclesHash] = keccak(emptyList)
    elements[field.coinbase] = this.#random.isOne(3) ? empty : Buffer.from(this.#random.bytes(20))
    for (const at of [field.stateRoot, field.transactionsRoot, field.receiptsRoot])
      elements[at] = Buffer.from(this.#random.bytes(32))
    elements[field.bloom] = Buffer.alloc(256)
    elements[field.difficulty] = Buffer.from([1])
    elements[field.number] = digits(number)
    elements[field.gasLimit] = read(header[field.gasLimit])
    elements[field.timestamp] = digits(numberOf(read(header[field.timestamp])) + 1n)
    elements[field.minimumGasPrice] = price.length === 0 ? Buffer.alloc(1) : price
    if (positions.version !== undefined)
      elements[positions.version] = Buffer.from([positions.baseEvent === undefined ? 1 : 2])
    const zero = Buffer.alloc(1)
    const fields = [digits(number - 1), zero, zero, remasc, empty, empty, empty, empty, empty]
    return new Mutable(elements, [{ fields }], [])
  }

  /** Imports a block to which the chain continues. */
  async #append(line) {
    const refusal = await this.#importLine(line)
    if (refusal !== undefined) throw new Error(refusal)
  }

  /** Returns the mutants that this node accepts. */
  async #judgeMutants(model, number) {
    this.#accepted.set(number, new Map())
    const found = []
    for (let made = 0; made < mutantsPerBlock; made++) {
      const mutant = await this.#judge(model, number)
      if (mutant !== undefined) found.push(mutant)
    }
    return found
  }

  /**
   * Lets the reference, which is stopped, judge the mutants, and starts it. Returns the mutants that it judges otherwise.
   */
  async compare(reference) {
    const found = []
    const connect = (mutants) => this.#connect(reference, mutants)
    for (const { label } of await connect(this.#readable)) found.push(`${label}: the reference cannot decode it`)
    // The reference ends at such a block.
    for (let count = 0; count < readAlone && this.#unreadable.length > 0; count++)
      await connect([this.#random.pick(this.#unreadable)])
    await reference.start()
    for (const [number, accepted] of this.#accepted) {
      const { result } = await reference.ask('eth_getBlocksByNumber', [`0x${number.toString(16)}`])
      const stored = new Set(result.map(({ hash }) => hash))
      for (const [hash, label] of accepted) if (!stored.has(hash)) found.push(`${label}: accepted here only`)
      for (const hash of stored) {
        const mutant = this.#readable.find((one) => one.hash === hash)
        if (!accepted.has(hash))
          found.push(`${mutant?.label ?? `block ${number} ${hash}`}: accepted by the reference only`)
      }
    }
    return found
  }

  /** Returns the mutants at which the reference ends. */
  async #connect(reference, mutants) {
    writeFileSync(this.#file, mutants.map(({ line }) => `${line}\n`).join(''))
    if (mutants.length === 0 || (await reference.connect(this.#file))) return []
    if (mutants.length === 1) return mutants
    const half = mutants.length >> 1
    return [
      ...(await this.#connect(reference, mutants.slice(0, half))),
      ...(await this.#connect(reference, mutants.slice(half))),
    ]
  }

  #transaction(fields) {
    if (read(fields[6]).length === 0) return { fields }
    const { from, chainId } = Transaction.from(`0x${encode(fields).toString('hex')}`)
    return { fields, key: this.#keys.get(from.toLowerCase()), chainId: Number(chainId) }
  }

  async #judge(model, number) {
    const parent = this.#chain[number - 1]
    const block = new Mutable(model.header, model.transactions, model.uncles)
    // Another hash, also for a mutant that means the same as its model.
    block.header[field.extraData] = Buffer.from(this.#random.bytes(12))
    const context = {
      random: this.#random,
      rules: this.#rules,
      number,
      positions: this.#rules.positions(number),
      parentTime: numberOf(read(parent.header[field.timestamp])),
      parentLimit: numberOf(read(parent.header[field.gasLimit])),
      ancestors: this.#chain.slice(1).reverse().slice(0, generations),
    }
    mutate(block, context)
    await this.#complete(block, number)
    const raw = block.encode(this.#rules)
    const label = `block ${number}: ${block.labels.join(', ')}`
    const verdict = await this.#verdict(block, number, raw)
    this.count++
    // The reference stores blocks that it cannot read back (docs/spec/blocks.md, 6.6).
    if (verdict.text.includes('does not survive its own encoding')) return undefined
    const mutant = { ...verdict, label, header: block.header }
    if (verdict.hash === undefined) this.#unreadable.push(mutant)
    else this.#readable.push(mutant)
    if (!verdict.isAccepted) return undefined
    this.#accepted.get(number).set(verdict.hash, label)
    return mutant
  }

  /** Writes the values into the header that follow from the rest, as far as this node computes them. */
  async #complete(block, number) {
    const put = (at, value) => {
      if (!block.kept.has(at)) block.header[at] = value
      return !block.kept.has(at)
    }
    put(field.unclesHash, keccak(block.uncles.length === 0 ? emptyList : encode(block.uncles)))
    for (let step = 0; block.isCompleted && step < maxSteps; step++) {
      const { text } = await this.#verdict(block, number, block.plain(this.#rules))
      const [found, at] =
        computed.flatMap(([pattern, at]) => (pattern.test(text) ? [[pattern.exec(text)[1], at]] : []))[0] ?? []
      if (found === undefined || !put(at, decimal.includes(at) ? digits(BigInt(found)) : Buffer.from(found, 'hex')))
        return
    }
  }

  /** Imports a block, and deletes it again if it was accepted. The hash is missing if the block cannot be decoded. */
  async #verdict(block, number, raw) {
    const { result: snapshot } = await this.#node.ask('evm_snapshot', [])
    const difficulty = this.#totalDifficulty(block, number)
    const stated = { number: String(number), hash: '00'.repeat(32) }
    let text = ''
    for (let tries = 0; tries < 3 && text !== undefined; tries++) {
      text = await this.#importLine(lineOf(stated.number, stated.hash, difficulty, raw))
      const [, name, value] = /the stated (number|hash) is \S+ the block has (?:0x)?(\w+)/.exec(text ?? '') ?? []
      if (name === undefined) break
      stated[name] = value
    }
    const line = lineOf(stated.number, stated.hash, difficulty, raw)
    const isUnreadable = /not a block|the header says transactions root/.test(text ?? '')
    // A block that can be read does not have the hash zero, so the node names its hash.
    if (!isUnreadable && /^0+$/.test(stated.hash)) throw new Error(`a refusal without the hash of the block: ${text}`)
    const verdict = { line, difficulty, hash: isUnreadable ? undefined : `0x${stated.hash}`, text: text ?? '' }
    if (text !== undefined) return { ...verdict, isAccepted: false }
    await this.#node.ask('evm_revert', [snapshot])
    return { ...verdict, isAccepted: true }
  }

  #totalDifficulty(block, number) {
    const headers = [block.header, ...block.uncles].filter(
      (header) => Array.isArray(header) && header.length > field.difficulty,
    )
    const sum = (total, header) => total + numberOf(read(header[field.difficulty]))
    return headers.reduce(sum, this.#chain[number - 1].difficulty) % 2n ** 256n
  }

  /** Imports a line. Returns the reason of a refusal. */
  async #importLine(line) {
    writeFileSync(this.#file, `${line}\n`)
    return this.#node.importBlocks(this.#file)
  }
}

function lineOf(number, hash, difficulty, raw) {
  return `${number},${hash},${difficulty.toString(16)},${raw.toString('hex')}`
}
