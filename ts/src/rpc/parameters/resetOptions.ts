import { Type } from 'typebox'
import { type Kind, refuse } from '../kind.ts'

/** Options of hardhat_reset: this node supports none. Clients send them empty. */
export const resetOptions: Kind<object> = {
  name: 'options',
  expects: 'an empty object: forks of other chains are not offered',
  schema: Type.Object({}, { additionalProperties: false }),
  read(value) {
    if (isObject(value) && !Array.isArray(value)) {
      const { forking, ...others } = value
      if ((isEmpty(forking) || (isObject(forking) && isEmptyObject(forking))) && isEmptyObject(others)) {
        return value
      }
    }
    return refuse(this, 'Invalid options: forking is not supported')
  },
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function isEmptyObject(value: object): boolean {
  return Object.values(value).every(isEmpty)
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null
}
