import { Type } from 'typebox'
import { type Kind, refuse } from '../kind.ts'
import { httpUrl, isHttpUrl } from './text.ts'

/** Member `forking` of the options of hardhat_reset. */
export interface Forking {
  readonly jsonRpcUrl?: string
  readonly blockNumber?: number
}

/** Options of hardhat_reset. */
export interface ResetOptions {
  readonly forking?: Forking
}

const highestBlock = Number.MAX_SAFE_INTEGER

/** Options of hardhat_reset: none, or the chain and block of a fork. Clients send members that are not set as null. */
export const resetOptions: Kind<ResetOptions> = {
  name: 'options',
  expects: 'an object with forking: {jsonRpcUrl, blockNumber}',
  schema: Type.Object(
    {
      forking: Type.Optional(
        Type.Object(
          {
            jsonRpcUrl: Type.Optional(httpUrl.schema),
            blockNumber: Type.Optional(Type.Integer({ minimum: 1, maximum: highestBlock })),
          },
          { additionalProperties: false },
        ),
      ),
    },
    { additionalProperties: false },
  ),
  read(value) {
    if (!isObject(value)) return refuse(this, 'Invalid options')
    const { forking, ...others } = value
    if (!isEmptyObject(others)) return refuse(this, `Invalid options: ${Object.keys(others)[0]} is unknown`)
    if (isEmpty(forking)) return {}
    if (!isObject(forking)) return refuse(this, 'Invalid options: forking is not an object')
    const { jsonRpcUrl, blockNumber, ...unknown } = forking
    if (!isEmptyObject(unknown)) return refuse(this, `Invalid options: forking.${Object.keys(unknown)[0]} is unknown`)
    if (!isEmpty(jsonRpcUrl) && !isHttpUrl(jsonRpcUrl)) {
      return refuse(this, 'Invalid options: forking.jsonRpcUrl is not an http or https URL')
    }
    const number = isEmpty(blockNumber) ? undefined : blockOf(blockNumber)
    if (number === null) return refuse(this, 'Invalid options: forking.blockNumber is not a block number above 0')
    return {
      forking: {
        ...(isHttpUrl(jsonRpcUrl) ? { jsonRpcUrl } : {}),
        ...(number === undefined ? {} : { blockNumber: number }),
      },
    }
  },
}

/** Reads a number, or a quantity in hex, as viem and anvil write it; null: it is neither. */
function blockOf(value: unknown): number | null {
  const number = typeof value === 'string' && /^0x[0-9a-fA-F]{1,14}$/.test(value) ? Number(value) : value
  const isBlock = typeof number === 'number' && Number.isSafeInteger(number) && number > 0
  return isBlock ? number : null
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isEmptyObject(value: object): boolean {
  return Object.values(value).every(isEmpty)
}

function isEmpty(value: unknown): value is null | undefined {
  return value === undefined || value === null
}
