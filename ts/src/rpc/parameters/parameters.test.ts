import { readdirSync } from 'node:fs'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { invalidParams, RpcError } from '../errors.ts'
import { type Kind, named } from '../kind.ts'
import { positional } from '../method.ts'
import { address } from './address.ts'
import { callBlock, estimateBlock, numberedBlock, stateBlock } from './block.ts'
import { bytes, prefixedBytes } from './bytes.ts'
import { callObject } from './callObject.ts'
import { filterId } from './filterId.ts'
import { flag } from './flag.ts'
import { blockHash, transactionHash } from './hash.ts'
import { listIndex } from './listIndex.ts'
import { logFilter } from './logFilter.ts'
import { storagePosition } from './number.ts'
import { stateOverrides } from './overrides.ts'
import { seconds } from './seconds.ts'
import { snapshotId } from './snapshotId.ts'
import { text } from './text.ts'
import { tracedBlock, tracedBlockOrHash } from './tracedBlock.ts'
import { tracePosition } from './tracePosition.ts'
import { traceTypes } from './traceTypes.ts'
import { word } from './word.ts'

const who = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const hash = `0x${'ab'.repeat(32)}`

function accepts(kind: Kind<unknown>, pairs: [sent: unknown, read: unknown][]): void {
  test.each(pairs)('args: %j is read', (sent, read) => {
    expect(kind.read(sent)).toEqual(read)
  })
}

function refuses(kind: Kind<unknown>, pairs: [sent: unknown, message: string][]): void {
  test.each(pairs)('error: %j is refused', (sent, message) => {
    expect(() => kind.read(sent)).toThrow(expect.objectContaining({ code: -32602, message }))
  })
}

describe('address', () => {
  accepts(address, [
    [who, who],
    [who.toUpperCase().replace('0X', '0x'), who.toUpperCase().replace('0X', '0x')],
    [who.slice(2), who],
  ])
  const length = 'Invalid address: null, empty or invalid hex value.'
  const digits = 'Invalid address format: invalid hex value.'
  refuses(address, [
    ['0x', length],
    ['', length],
    [who.slice(0, -3), length],
    [who.slice(0, -2), digits],
    [who.slice(0, -1), digits],
    [` ${who.slice(2)}`, digits],
    [` ${who}`, length],
    [`${who}00`, length],
    [null, length],
    [5, length],
    [[who], length],
    [`0x${'g'.repeat(40)}`, digits],
    [who.replace('0x', '0X'), digits],
  ])
})

describe('hashes', () => {
  accepts(blockHash, [
    [hash, hash],
    [hash.slice(2), hash],
  ])
  refuses(blockHash, [
    ['0x12', 'Invalid block hash: incorrect length.'],
    [5, 'Invalid block hash: incorrect length.'],
    [null, 'blockHash is null'],
    [`0x${'g'.repeat(64)}`, 'Invalid block hash format: invalid hex value'],
  ])
  refuses(transactionHash, [
    ['', 'Invalid transaction hash: incorrect length.'],
    [null, 'transactionHash is null'],
  ])
})

/** Settings of a node that serves the tags. */
const rules = { presumesBlock: false, servesDepthTags: true }

test('the tags safe and finalized are blocks if the settings serve them', () => {
  for (const kind of [
    stateBlock,
    callBlock,
    numberedBlock,
    estimateBlock,
    tracedBlock,
    named('newest', numberedBlock),
  ]) {
    const params = positional([kind])
    expect(params.read(['safe'], rules)).toEqual(['safe'])
    expect(params.read(['finalized'], rules)).toEqual(['finalized'])
    expect(() => params.read(['Safe'], rules)).toThrow(expect.objectContaining({ code: -32602 }))
    expect(() => params.read(['safe'], { ...rules, servesDepthTags: false })).toThrow(
      expect.objectContaining({ code: -32602 }),
    )
  }
})

describe('stateBlock', () => {
  accepts(stateBlock, [
    ['latest', 'latest'],
    ['pending', 'pending'],
    ['0x0', '0x0'],
    ['0x04', '0x04'],
    ['0x7fffffffffffffff', '0x7fffffffffffffff'],
    [hash, hash],
    [{ blockNumber: '0x4' }, '0x4'],
    [{ blockHash: hash }, `hash:${hash}`],
    [{ blockHash: hash, requireCanonical: false }, `hash:${hash}`],
    [{ blockHash: hash, requireCanonical: 'true' }, `canonical:${hash}`],
    [{ blockHash: hash, requireCanonical: true }, `canonical:${hash}`],
    [{ blockHash: hash, blockNumber: '0x1', other: 1 }, `hash:${hash}`],
  ])
  refuses(stateBlock, [
    ['Latest', "Invalid block identifier 'Latest'"],
    ['safe', "Invalid block identifier 'safe'"],
    ['', "Invalid block identifier ''"],
    ['0x', "Invalid block identifier '0x'"],
    ['-1', "Invalid block identifier '-1'"],
    [' 0x0', "Invalid block identifier ' 0x0'"],
    ['4', 'invalid blocknumber 4'],
    ['0x8000000000000000', 'Invalid block number 0x8000000000000000'],
    ['0x10000000000000000', 'Invalid block number 0x10000000000000000'],
    [hash.slice(2), `Invalid block identifier '${hash.slice(2)}'`],
    [5, 'Invalid input'],
    [true, 'Invalid input'],
    [[], 'Invalid input'],
    [null, 'Invalid input'],
    [{}, 'Invalid block input'],
    [{ blockNumber: null }, 'Invalid param: null'],
    [{ blockNumber: 'latest' }, 'Invalid param latest: value must be a valid hex or string number.'],
    [{ blockNumber: '0' }, 'invalid blocknumber 0'],
    [{ blockNumber: 0 }, 'Invalid param 0: value must be a valid hex or string number.'],
    [{ blockHash: '0x12' }, 'Invalid block hash: incorrect length.'],
    [{ blockHash: null }, 'Invalid block hash: incorrect length.'],
    [
      { blockHash: hash, requireCanonical: 'maybe' },
      'Invalid input: requireCanonical must be a String "true" or "false"',
    ],
  ])
})

describe('callBlock and estimateBlock', () => {
  accepts(callBlock, [
    ['4', '0x4'],
    ['01', '0x1'],
    [{ blockNumber: '10' }, '0xa'],
  ])
  refuses(callBlock, [['99999999999999999999', 'Invalid block number 0x56bc75e2d630fffff']])
  accepts(estimateBlock, [
    ['4', '0x4'],
    ['latest', 'latest'],
  ])
  refuses(estimateBlock, [
    [
      'safe',
      "Unsupported block specifier 'safe'. Can only be either 'earliest', 'latest', 'pending' or a specific block number (either hex - prepending '0x' or decimal).",
    ],
    ['0x', "Invalid block identifier '0x'"],
  ])
})

describe('numberedBlock', () => {
  accepts(numberedBlock, [
    ['earliest', 'earliest'],
    ['0x00', '0x00'],
    [hash, hash],
  ])
  refuses(numberedBlock, [
    ['Latest', 'invalid blocknumber Latest'],
    ['safe', 'invalid blocknumber safe'],
    ['1', 'invalid blocknumber 1'],
    [5, 'invalid blocknumber 5'],
    [1.5, "Invalid block identifier '1.5'"],
    [true, "Invalid block identifier 'true'"],
    [[], "Invalid block identifier '['"],
    [{}, "Invalid block identifier '{'"],
    ['nope', "Invalid block identifier 'nope'"],
    ['', 'Invalid block identifier: empty or null.'],
    ['0x10000000000000000', 'Invalid block number 0x10000000000000000'],
  ])
})

describe('storagePosition', () => {
  accepts(storagePosition, [
    ['0x0', '0x0'],
    ['0x', '0x0'],
    ['10', '0xa'],
    [3, '0x3'],
    [`0x${'f'.repeat(64)}`, `0x${'f'.repeat(64)}`],
  ])
  const letters = 'Number values should not contain letters or hex values should start with 0x.'
  refuses(storagePosition, [
    ['', letters],
    ['abc', letters],
    ['-1', 'Invalid param -1: value must be a valid hex or string number.'],
    ['zz', 'Invalid param zz: value must be a valid hex or string number.'],
    [-1, 'Invalid param -1: value must be a valid hex or string number.'],
    [null, 'Invalid param: null'],
    [`0x${'f'.repeat(66)}`, `Invalid param: 0x${'f'.repeat(64)}...`],
    // Objects without a text form.
    [{ toString: 1 }, 'Invalid param {: value must be a valid hex or string number.'],
    [[{ toString: null }], 'Invalid param [: value must be a valid hex or string number.'],
  ])
})

describe('listIndex', () => {
  accepts(listIndex, [
    ['0x0', 0],
    ['0x00', 0],
    ['0x7fffffff', 0x7fffffff],
  ])
  const range = 'Invalid index param: value must be a valid hex number.'
  refuses(listIndex, [
    ['0', 'Invalid argument "0": param should be a hex value string.'],
    ['-0x1', 'Invalid argument "-0x1": param should be a hex value string.'],
    [1, 'Invalid argument "1": param should be a hex value string.'],
    ['', range],
    ['0x', range],
    ['0xffffffff', range],
    [`0x${'1'.repeat(70)}`, `Invalid argument: 0x${'1'.repeat(64)}...`],
  ])
})

describe('bytes', () => {
  accepts(bytes, [
    ['0x', '0x'],
    ['', '0x'],
    ['0xAb', '0xAb'],
    ['1234', '0x1234'],
  ])
  const message = 'Invalid data format: invalid hex value.'
  refuses(bytes, [
    ['0x1', message],
    ['zz', message],
    [5, message],
    [null, message],
  ])
  accepts(prefixedBytes, [
    ['0x', '0x'],
    ['0xABCDEF', '0xABCDEF'],
  ])
  const prefix = "Parameter must be hexadecimal encoded with the '0x' prefix."
  refuses(prefixedBytes, [
    ['', prefix],
    ['68', prefix],
    ['0x 68', prefix],
    [null, prefix],
  ])
})

describe('logFilter', () => {
  accepts(logFilter, [
    [{}, {}],
    [{ unknown: 1, address: null, topics: null }, {}],
    [{ address: [] }, {}],
    [{ topics: [] }, {}],
    [
      { address: who, topics: [hash, null, [hash, null], [null], []] },
      { address: [who], topics: [[hash], null, [hash], null, null] },
    ],
    [{ topics: hash }, { topics: [[hash]] }],
    [
      { fromBlock: 'finalized', toBlock: 'safe' },
      { fromBlock: 'finalized', toBlock: 'safe' },
    ],
    [
      { fromBlock: '0x04', toBlock: 'pending' },
      { fromBlock: '0x04', toBlock: 'pending' },
    ],
    [{ blockHash: hash.slice(2) }, { blockHash: hash }],
  ])
  refuses(logFilter, [
    [null, 'Invalid filter object'],
    [{ fromBlock: '' }, 'Invalid block identifier: empty or null.'],
    [{ fromBlock: null }, "Invalid block identifier 'null'"],
    [{ toBlock: 'zz' }, "Invalid block identifier 'zz'"],
    [{ fromBlock: 'Safe' }, 'invalid blocknumber Safe'],
    [{ fromBlock: '4', toBlock: '4' }, 'invalid blocknumber 4'],
    [{ fromBlock: '0x5', toBlock: '0x0' }, 'fromBlock cannot be greater than toBlock'],
    [{ address: '0x12' }, 'Invalid address: null, empty or invalid hex value.'],
    [{ topics: ['0x12'] }, 'Invalid topic: incorrect length.'],
    [{ topics: {} }, 'Invalid topic: incorrect length.'],
    [{ topics: [[[hash]]] }, 'Invalid topic: incorrect length.'],
    [{ blockHash: null }, 'Invalid block hash: incorrect length.'],
    [{ blockHash: hash, fromBlock: '0x0' }, 'Cannot specify both blockHash and fromBlock/toBlock'],
  ])
})

describe('small kinds', () => {
  accepts(filterId, [
    ['0xAB', '0xab'],
    ['', ''],
    [5, '5'],
  ])
  refuses(filterId, [
    ['zz', 'Invalid data format: invalid hex value.'],
    [null, 'Invalid data format: invalid hex value.'],
  ])
  accepts(seconds, [
    ['3600', 3600],
    ['0x10', 16],
    [100, 100],
    ['0', 0],
  ])
  refuses(seconds, [
    ['zz', 'invalid number of seconds zz'],
    ['-5', 'invalid number of seconds -5'],
    [null, 'invalid number of seconds null'],
  ])
  accepts(snapshotId, [
    ['0x1', 1],
    ['0x99999999999999999999', 0],
  ])
  refuses(snapshotId, [
    ['1', 'invalid snapshot id 1'],
    [1, 'invalid snapshot id 1'],
    [null, 'invalid snapshot id null'],
  ])
  accepts(text('coinbase', 'text'), [['zz', 'zz']])
  refuses(text('coinbase', 'text'), [
    [5, 'Invalid coinbase: must be text.'],
    [null, 'Invalid coinbase: must be text.'],
  ])
  accepts(word('nonce', 2), [['0x12aB', '0x12aB']])
  refuses(word('nonce', 2), [
    ['0x12', 'Invalid nonce.'],
    ['12ab', 'Invalid nonce.'],
    [null, 'Invalid nonce.'],
  ])
  accepts(flag('full'), [[true, true]])
  refuses(flag('full'), [
    ['yes', 'Invalid input: must be a boolean'],
    [{}, 'Invalid input: must be a boolean'],
  ])
})

describe('blocks in objects', () => {
  const notANumber = (text: string): string => `Invalid param ${text}: value must be a valid hex or string number.`
  const notCanonical = 'Invalid input: requireCanonical must be a String "true" or "false"'
  accepts(stateBlock, [
    [{ blockNumber: '0x05' }, '0x05'],
    [{ blockNumber: hash.slice(2) }, hash.slice(2)],
    [{ blockHash: hash, requireCanonical: 'TRUE' }, `canonical:${hash}`],
    [{ blockHash: hash, blockNumber: '0x' }, `hash:${hash}`],
    [`0x${'0'.repeat(30)}1`, `0x${'0'.repeat(30)}1`],
  ])
  refuses(stateBlock, [
    [{ blockNumber: '0x' }, 'invalid blocknumber 0x'],
    [{ blockNumber: '' }, 'invalid blocknumber '],
    [{ blockNumber: 'abc' }, 'invalid blocknumber abc'],
    [{ blockNumber: '-1' }, 'invalid blocknumber -1'],
    [{ blockNumber: 'zz' }, notANumber('zz')],
    [{ blockNumber: '0x-1' }, notANumber('0x-1')],
    [{ blockNumber: '1'.repeat(67) }, `Invalid param: ${'1'.repeat(66)}...`],
    [{ blockHash: hash, blockNumber: 'zz' }, notANumber('zz')],
    [{ blockNumber: '0x5', requireCanonical: 'yes' }, notCanonical],
    [{ blockHash: 'zz', requireCanonical: 'yes' }, 'Invalid block hash: incorrect length.'],
    [{ requireCanonical: 'yes', blockHash: 'zz' }, notCanonical],
    ['9'.repeat(67), `invalid block identifier ${'9'.repeat(66)}...`],
  ])
  refuses(callBlock, [
    [{ blockNumber: '0x' }, "Invalid block identifier '0x'"],
    [{ blockNumber: '' }, 'Invalid block identifier: empty or null.'],
    [{ blockNumber: '-1' }, "Invalid block identifier '-1'"],
    [{ blockNumber: 'zz' }, notANumber('zz')],
  ])
})

describe('the first of two faults', () => {
  refuses(logFilter, [
    [{ fromBlock: 'zz', address: 'zz' }, "Invalid block identifier 'zz'"],
    [{ topics: ['zz'], toBlock: 'zz' }, "Invalid block identifier 'zz'"],
    [{ blockHash: 'zz', address: 'zz' }, 'Invalid address: null, empty or invalid hex value.'],
    [{ blockHash: hash, fromBlock: 'zz' }, "Invalid block identifier 'zz'"],
    [{ fromBlock: {} }, 'Invalid block identifier: empty or null.'],
    [{ fromBlock: 1e30 }, "Invalid block identifier '1.0E30'"],
    [{ topics: [`0x${'z'.repeat(63)}`] }, 'Invalid topic format: invalid hex value'],
  ])
  test.each([
    [[null, '0x0', 'zz'], "Invalid block identifier 'zz'"],
    [[null, 'zz', null], 'Invalid param zz: value must be a valid hex or string number.'],
    [[who, 'abc', '4'], 'invalid blocknumber 4'],
    [[who, 'abc', 5], 'Invalid input'],
    [['zz', 'abc', 'zz'], 'Invalid address: null, empty or invalid hex value.'],
    [[who, 'abc', 'latest'], 'Number values should not contain letters or hex values should start with 0x.'],
  ])('order: of %j', (sent, message) => {
    const params = positional([address, storagePosition, stateBlock])
    expect(() => params.read(sent, rules)).toThrow(expect.objectContaining({ code: -32602, message }))
  })
  test.each([
    [[{ call: 'form' }, 'zz'], 'call form'],
    [[{ call: 'in use' }, 'zz'], "Invalid block identifier 'zz'"],
    [[{ call: 'form' }, '4'], 'call form'],
    [[{ call: 'in use' }, '4'], 'invalid blocknumber 4'],
    [[{ call: 'only here' }, '4'], 'invalid blocknumber 4'],
    [[{}, '4', { stateOverrides: 'form' }], 'stateOverrides form'],
    [[{}, 'zz', { stateOverrides: 'form' }], "Invalid block identifier 'zz'"],
    [[{}, 'zz'], "Invalid block identifier 'zz'"],
  ])('order: of %j with an object', (sent, message) => {
    const source = { paramText: (index: number) => JSON.stringify(sent[index]) }
    const params = positional([callObject, stateBlock], [stateOverrides])
    const read = () => params.read(sent, rules, source, (name, text) => faultIn(JSON.parse(String(text)), name))
    expect(read).toThrow(expect.objectContaining({ code: -32602, message }))
  })
  test('behavior: objects are not checked while there is no other fault', () => {
    const params = positional([callObject, stateBlock])
    expect(params.read([{}, 'latest'], rules, { paramText: () => '{}' }, () => expect.unreachable())).toEqual([
      '{}',
      'latest',
    ])
  })
})

function faultIn(object: Record<string, string>, name: string): RpcError | undefined {
  const shows = object[name]
  if (shows === undefined) return undefined
  const fault = invalidParams(`${name} ${shows}`)
  if (shows !== 'form') fault.shows = shows as 'in use' | 'only here'
  return fault
}

describe('traces', () => {
  accepts(traceTypes, [
    [[], []],
    [
      ['vmTrace', 'trace'],
      ['vmTrace', 'trace'],
    ],
  ])
  refuses(traceTypes, [
    ['trace', 'Invalid trace types: an array is expected'],
    [['Trace'], 'Invalid trace type: Trace'],
  ])
  accepts(tracedBlock, [
    ['latest', 'latest'],
    ['0x1', '0x1'],
    [hash, hash],
  ])
  refuses(tracedBlock, [
    ['1', 'invalid blocknumber 1'],
    ['', 'invalid blocknumber '],
    [null, 'invalid blocknumber null'],
    [`${hash} `, `invalid block identifier ${hash}...`],
    [`${hash.slice(2)}ab`, `invalid block hash ${hash.slice(2)}ab`],
  ])
  accepts(tracedBlock, [[hash.slice(2), hash.slice(2)]])
  accepts(tracedBlockOrHash, [
    ['pending', 'pending'],
    [hash.slice(2), hash],
  ])
  accepts(tracePosition, [
    [['0x3'], 3],
    ['0x0', 0],
  ])
  refuses(tracePosition, [
    [null, "'positions' cannot be null or empty"],
    [['0x0', '0x1'], "'positions' accepts only one index"],
  ])
})

describe('a block number of very many digits', () => {
  const tooLarge: [unknown, string][] = [
    ['9'.repeat(1000), `Invalid block number ${'9'.repeat(1000)}`],
    [`0x${'f'.repeat(1000)}`, `Invalid block number 0x${'f'.repeat(1000)}`],
  ]
  refuses(callBlock, tooLarge)
  refuses(estimateBlock, tooLarge)
  accepts(callBlock, [[`${'0'.repeat(1000)}7`, '0x7']])
})

describe('every kind', async () => {
  const files = readdirSync(new URL('.', import.meta.url)).filter((name) => !name.endsWith('.test.ts'))
  const modules = await Promise.all(
    files.map((name) => import(/* @vite-ignore */ `./${name}`) as Promise<Record<string, unknown>>),
  )
  const kinds = modules.flatMap(Object.entries).filter((entry): entry is [string, Kind<unknown>] => {
    return typeof (entry[1] as { read?: unknown } | null)?.read === 'function'
  })
  // Values whose conversion to text or to a number fails, and names that every object has.
  const noText = { toString: 1, valueOf: 1, toJSON: 1 }
  const hostile: readonly unknown[] = [
    noText,
    [noText],
    [[noText]],
    JSON.parse('{"__proto__":{"toString":1},"constructor":1,"length":-1}'),
    JSON.parse('[1e400,-1e400,-0,{"then":1}]'),
    ...['__proto__', 'constructor', 'toString', '\ud800', '9'.repeat(1_000_000), `0x${'f'.repeat(1_000_000)}`],
    ...[null, true, Number.POSITIVE_INFINITY, -0, 2 ** 53, [], {}],
  ]
  const membersOf = (schema: object): string[] =>
    Object.entries(schema).flatMap(([name, inner]: [string, unknown]) => {
      const names = name === 'properties' ? Object.keys(inner as object) : []
      return typeof inner === 'object' && inner !== null ? [...names, ...membersOf(inner)] : names
    })

  test('behavior: all are here', () => expect(kinds.length).toBeGreaterThan(40))

  test.each(kinds)('error: %s reads or rejects every value', (_name, kind) => {
    const names = [...new Set(membersOf(kind.schema))]
    const objects = names.flatMap((name) => hostile.map((value) => ({ [name]: value })))
    // The core reads objects that cross as text.
    const outers = kind.crossesAsText ? [] : names
    const nested = outers.flatMap((outer) => objects.flatMap((inner) => [{ [outer]: inner }, { [outer]: [inner] }]))
    const whole = Object.fromEntries(names.map((name) => [name, noText]))
    for (const value of [...hostile, ...objects, ...nested, { [who]: noText }, { [who]: { state: noText } }, whole]) {
      try {
        kind.read(value)
      } catch (error) {
        if (!(error instanceof RpcError))
          throw new Error(`a defect for ${inspect(value).slice(0, 200)}`, { cause: error })
      }
    }
  })
})
