// Makes a plan of requests: sends each once to the target, verifies the answer and keeps its bytes. Later answers must have
// the same bytes, except for the id.
import { once } from 'node:events'
import { isDeepStrictEqual } from 'node:util'
import { WebSocket } from 'ws'

/** The target lacks the method, or a part of the prepared chain. */
export class NotServed extends Error {}

const methodUnknown = new Set([-32601, -32004, -32600])
const mark = '@@@@@@@@@'
const firstId = 987_654_321
const together = 8

/** Returns a check for an exact result. */
export const is = (expected) => (result) => isDeepStrictEqual(result, expected)

/**
 * Returns the entries of a plan for one target; the scheme of `url` selects HTTP or WebSocket. `requests` are calls, or
 * arrays of calls for batches. A call has a `check` of its result, or a `checkError` if it must fail.
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
  const { status, text } = await (url.startsWith('ws:') ? send : post)(url, body)
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

/** Sends over a WebSocket, where an answer can have other bytes than over HTTP. */
async function send(url, body) {
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
