import { TypedDataEncoder } from 'ethers/hash'
import { invalidParams } from '../rpc/errors.ts'
import type { TypedData } from '../rpc/parameters/typedData.ts'

/** Returns the signing hash of structured data (EIP-712). Throws RpcError. */
export function typedDataHash({ types, primaryType, domain, message }: TypedData): string {
  const { EIP712Domain: domainFields, ...others } = types
  try {
    if (!Object.hasOwn(others, primaryType)) throw new Error(`the primary type ${primaryType} is not described`)
    // `EIP712Domain` lists the signed members of the domain.
    const signed =
      domainFields === undefined
        ? domain
        : pick(
            domain,
            domainFields.map(({ name }) => name),
          )
    return TypedDataEncoder.hash(signed, reachable(others, primaryType), message)
  } catch (error) {
    const reason = (error as { shortMessage?: string }).shortMessage ?? (error as Error).message
    throw invalidParams(`Invalid typed data: ${reason}`, 'typedData: expected types, primaryType, domain and message')
  }
}

/** Returns the types that a type refers to. The library takes any other type for a second primary type. */
function reachable(types: TypedData['types'], from: string): TypedData['types'] {
  const found: Record<string, TypedData['types'][string]> = {}
  const visit = (name: string): void => {
    const fields = Object.hasOwn(types, name) ? types[name] : undefined
    if (fields === undefined || Object.hasOwn(found, name)) return
    Object.defineProperty(found, name, { value: fields, enumerable: true })
    for (const { type } of fields) visit(type.replace(/\[.*$/, ''))
  }
  visit(from)
  return found
}

function pick(members: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.filter((name) => Object.hasOwn(members, name)).map((name) => [name, members[name]]))
}
