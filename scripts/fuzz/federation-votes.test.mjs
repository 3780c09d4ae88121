import { expect, test } from 'vitest'
import { Random } from '../random.mjs'
import { callOf } from './bridge-abi.mjs'
import { capVote, federationVotes, feeVote, unionAddressVote, unionCall, whitelistVote } from './federation-votes.mjs'

const random = () => new Random(5)
const world = { pendingSize: -1, pendingHash: undefined, isMultikey: true, isChanging: false }

/** Returns the methods of many votes. */
function methodsOf(state) {
  const numbers = random()
  const votes = Array.from({ length: 60 }, () => federationVotes(numbers, { ...world, ...state })).flat()
  for (const { method, values } of votes) expect(callOf(method, values)).toMatch(/^0x/)
  const counts = new Map()
  for (const { method } of votes) counts.set(method, (counts.get(method) ?? 0) + 1)
  return [...counts.entries()].sort(([, a], [, b]) => b - a).map(([method]) => method)
}

test('behavior: votes for a federation follow its state', () => {
  expect(methodsOf({})[0]).toBe('createFederation')
  expect(methodsOf({ pendingSize: 0 })[0]).toBe('addFederatorPublicKeyMultikey')
  expect(methodsOf({ pendingSize: 0, isMultikey: false })[0]).toBe('addFederatorPublicKey')
  expect(methodsOf({ pendingSize: 6, pendingHash: `0x${'11'.repeat(32)}` })[0]).toBe('commitFederation')
})

test('behavior: no federation is created while another one is under way, mostly', () => {
  const count = (isChanging) => {
    const numbers = random()
    return Array.from({ length: 40 }, () => federationVotes(numbers, { ...world, isChanging })).flat().length
  }
  expect(count(true)).toBeLessThan(count(false) / 2)
})

test('behavior: other votes are calls of the Bridge', () => {
  const numbers = random()
  for (let count = 0; count < 100; count++) {
    const votes = [
      feeVote(numbers),
      capVote(numbers, 1000n),
      whitelistVote(numbers, 'mxau5sCeEHfG6sNBkPzLiERyiiNUAXr3Yz'),
      unionAddressVote(numbers, `0x${'22'.repeat(20)}`),
      unionCall(numbers),
    ]
    for (const { method, values } of votes) expect(callOf(method, values)).toMatch(/^0x/)
  }
})
