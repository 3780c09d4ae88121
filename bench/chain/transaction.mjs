// Signs thousands of transactions. All signatures use the same nonce point, so that each needs only a hash and a
// multiplication. Two such signatures reveal the key; the accounts hold no real money.
import { keccak_256 } from '@noble/hashes/sha3.js'
import { SigningKey } from 'ethers'

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const nonce = BigInt(`0x${hash(Buffer.from('rhizome bench: nonce of all signatures'))}`) % order
const inverse = power(nonce, order - 2n)
const point = Buffer.from(new SigningKey(`0x${nonce.toString(16).padStart(64, '0')}`).publicKey.slice(2), 'hex')
const r = BigInt(`0x${point.subarray(1, 33).toString('hex')}`) % order
const parity = BigInt(point[64] & 1)

/** An account whose key is derived from its name. */
export class Account {
  constructor(name) {
    const key = hash(Buffer.from(`rhizome bench: ${name}`))
    this.key = BigInt(`0x${key}`)
    const publicKey = Buffer.from(new SigningKey(`0x${key}`).publicKey.slice(4), 'hex')
    this.address = `0x${hash(publicKey).slice(24)}`
    /** Nonce of the next transaction. */
    this.nonce = 0
  }
}

/** Signs a transaction with its chain id (EIP-155). Returns its bytes and its hash as hex. */
export function sign({ key }, { nonce: count, gasPrice, gas, to = '0x', value = 0n, data = '0x', chainId }) {
  const fields = [number(count), number(gasPrice), number(gas), bytes(to), number(value), bytes(data)]
  const message = rlp([...fields, number(chainId), Buffer.alloc(0), Buffer.alloc(0)])
  let s = (inverse * ((BigInt(`0x${hash(message)}`) + r * key) % order)) % order
  let odd = parity
  if (s > order / 2n) {
    s = order - s
    odd = 1n - odd
  }
  const raw = rlp([...fields, number(BigInt(chainId) * 2n + 35n + odd), number(r), number(s)])
  return { raw: `0x${raw.toString('hex')}`, hash: `0x${hash(raw)}` }
}

/** Keccak-256 as hex without prefix. */
export function hash(data) {
  return Buffer.from(keccak_256(data)).toString('hex')
}

function power(base, exponent) {
  let result = 1n
  for (let [square, rest] = [base, exponent]; rest > 0n; square = (square * square) % order, rest >>= 1n)
    if (rest & 1n) result = (result * square) % order
  return result
}

function number(value) {
  const text = BigInt(value).toString(16)
  return value === 0 || value === 0n ? Buffer.alloc(0) : Buffer.from(text.length % 2 ? `0${text}` : text, 'hex')
}

function bytes(text) {
  return Buffer.from(text.slice(2), 'hex')
}

/** Encodes a list of byte strings in RLP. */
function rlp(items) {
  const body = Buffer.concat(
    items.flatMap((item) => (item.length === 1 && item[0] < 128 ? [item] : [head(item.length, 0x80), item])),
  )
  return Buffer.concat([head(body.length, 0xc0), body])
}

function head(length, offset) {
  if (length < 56) return Buffer.from([offset + length])
  const size = number(length)
  return Buffer.concat([Buffer.from([offset + 55 + size.length]), size])
}
