import type { IncomingMessage } from 'node:http'
import type { Validator } from 'typebox/compile'
import { ApiError } from './refusal.ts'

/** Allow lists and public keys of an app may be long. */
const maxBytes = 1_048_576

/** Reads a body as JSON. Throws ApiError. */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase()
  // A form of a web page cannot send this type.
  if (type !== 'application/json') {
    throw new ApiError(415, 'mediaType', 'Content-Type: expected application/json')
  }
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > maxBytes) {
      throw new ApiError(413, 'tooLarge', `the body is larger than ${maxBytes} bytes`, {
        headers: { Connection: 'close' },
      })
    }
    chunks.push(chunk)
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)))
  } catch {
    throw new ApiError(400, 'json', 'the body is not JSON')
  }
}

/** A compiled schema. */
interface Check<T> extends Pick<Validator, 'Errors' | 'Type'> {
  Check(value: unknown): value is T
}

interface Described {
  /** Description of valid values. */
  readonly expects?: string
  readonly properties?: Readonly<Record<string, Described>>
  readonly items?: Described
}

/** Checks a body. Throws ApiError with the first invalid member and its description, without its value. */
export function checkBody<T>(check: Check<T>, body: unknown): T {
  if (check.Check(body)) return body
  const [first] = check.Errors(body)
  const names = (first?.instancePath ?? '').split('/').slice(1)
  const { additionalProperties, requiredProperties } = (first?.params ?? {}) as Record<string, readonly string[]>
  const inner = additionalProperties?.[0] ?? requiredProperties?.[0]
  const member = [...names, ...(inner === undefined ? [] : [inner])].join('.')
  if (member === '') throw new ApiError(400, 'invalid', 'the body must be an object')
  const problem =
    additionalProperties !== undefined
      ? 'there is no such member'
      : requiredProperties !== undefined
        ? 'is missing'
        : `expected ${expectation(check.Type() as Described, names) ?? first?.message}`
  throw new ApiError(400, 'invalid', `${member}: ${problem}`, { member })
}

/** Returns the innermost description on the path of an invalid member. */
function expectation(schema: Described, names: readonly string[]): string | undefined {
  let described: Described | undefined = schema
  let expects: string | undefined
  for (const name of names) {
    described = described?.properties?.[name] ?? described?.items
    expects = described?.expects ?? expects
  }
  return expects
}
