// Turns requests into a plan: asks a target each once, looks whether the answer is right, and keeps its bytes. From then on
// an answer has to be the same, but for the id.
import { once } from 'node:events'
import { isDeepStrictEqual } from 'node:util'
import { WebSocket } from 'ws'

/** The target cannot do this: it lacks the method, or its chain could not be prepared so far. */
export class NotServed extends Error {}

const methodUnknown = new Set([-32601, -32004, -32600])
const mark = '@@@@@@@@@'
const firstId = 987_654_321
const together = 8

/** A check that wants exactly this. */
export const is = (expected) => (result) => isDeepStrictEqual(result, expected)

/**
 * Entries of a plan for one target, over HTTP or WebSocket as its `url` says. `requests` are calls, or arrays of calls for
 * batches. A call has a `check` of its result, or a `checkError` when it has to fail.
 */
export async function learn(url, requests) {
  const entries = new Array(requests.length)
  const numbers = requests.keys()
  await Promise.all(
    Array.from({ length: together }, async () => {
      for (const number of numbers) entries[number] = await learnOne(url, requests[number])
    }),
  )
  return entries
}

async function learnOne(url, asked) {
  const calls = Array.isArray(asked) ? asked : [asked]
  const ids = calls.map((_call, index) => firstId + index)
  const bodies = calls.map(({ method, params }, index) => bodyOf(method, params, ids[index]))
  const body = Array.isArray(asked) ? `[${bodies.join(',')}]` : bodies[0]
  const { status, text } = await (url.startsWith('ws:') ? tell : post)(url, body)
  const parsed = parse(text, calls[0].method)
  if (Array.isArray(asked) && !Array.isArray(parsed)) throw new NotServed(`a batch: ${text.slice(0, 200)}`)
  const answers = Array.isArray(asked) ? parsed : [parsed]
  for (const [index, call] of calls.entries()) verify(call, answers[index], ids[index])
  const { pathname, search } = new URL(url)
  return {
    path: `${pathname}${search}`,
    status,
    request: ids.reduce((rest, id) => rest.replace(`"id":${id}`, `"id":${mark}`), body),
    answer: ids.reduce((rest, id) => withMark(rest, id), text),
  }
}

async function post(url, body) {
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return { status: response.status, text: await response.text() }
}

/** Over a WebSocket, where the same answer may have other bytes. */
async function tell(url, body) {
  const socket = new WebSocket(url)
  const answered = async () => {
    await once(socket, 'open')
    socket.send(body)
    const [message] = await once(socket, 'message')
    return { status: 200, text: message.toString() }
  }
  const closed = async () => {
    const [code] = await once(socket, 'close')
    throw new Error(`the server closed the WebSocket with code ${code}`)
  }
  try {
    return await Promise.race([answered(), closed()])
  } finally {
    socket.terminate()
  }
}

export function bodyOf(method, params, id = mark) {
  return `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${JSON.stringify(params)}}`
}

function parse(text, method) {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${method}: no JSON: ${text.slice(0, 200)}`)
  }
}

function verify({ method, check, checkError }, answer, id) {
  if (answer?.id !== id) throw new Error(`${method}: asked with id ${id}, answered with ${answer?.id}`)
  if (checkError !== undefined) {
    if (answer.error === undefined || !checkError(answer.error))
      throw new Error(`${method}: expected another error: ${JSON.stringify(answer).slice(0, 200)}`)
    return
  }
  if (answer.error !== undefined) {
    const { code, message } = answer.error
    if (methodUnknown.has(code)) throw new NotServed(`${message} (${code})`)
    throw new Error(`${method}: ${message} (${code})`)
  }
  if (!check(answer.result)) throw new Error(`${method}: wrong result ${JSON.stringify(answer.result)?.slice(0, 200)}`)
}

function withMark(text, id) {
  const [found] = new RegExp(`"id": ?${id}`).exec(text) ?? []
  if (found === undefined) throw new Error(`the answer has no id ${id}`)
  return text.replace(found, found.replace(`${id}`, mark))
}
