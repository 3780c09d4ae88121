// JSON-RPC over HTTP for the preparation of a chain; not measured.

/** An error in the answer of the server. */
export class AnswerError extends Error {
  constructor(method, { code, message }) {
    super(`${method}: ${message} (${code})`)
    this.code = code
  }
}

/** Returns the result of one call. */
export async function call(url, method, params = []) {
  const answer = await post(url, { jsonrpc: '2.0', id: 1, method, params })
  if (answer.error !== undefined) throw new AnswerError(method, answer.error)
  return answer.result
}

/** Returns the results of many calls, sent as batches. */
export async function callAll(url, calls, size = 50) {
  const results = []
  for (let from = 0; from < calls.length; from += size) {
    const part = calls.slice(from, from + size)
    const body = part.map(([method, params], id) => ({ jsonrpc: '2.0', id, method, params }))
    const answer = await post(url, body)
    if (!Array.isArray(answer)) throw new AnswerError('a batch', answer.error ?? { code: 0, message: 'no array' })
    const byId = new Map(answer.map((one) => [one.id, one]))
    for (const [id, [method]] of part.entries()) {
      const one = byId.get(id)
      if (one === undefined) throw new Error(`${method}: no answer in the batch`)
      if (one.error !== undefined) throw new AnswerError(method, one.error)
      results.push(one.result)
    }
  }
  return results
}

/** Whether a server has a method: it returns a result, or an error other than "not found" or "not available". */
export async function isServed(url, method, params = []) {
  try {
    await call(url, method, params)
    return true
  } catch (error) {
    if (error instanceof AnswerError) return false
    throw error
  }
}

/** Waits until `look` returns a value other than undefined. Looks every `pauseMs`. */
export async function until(look, what, limitMs = 20_000, pauseMs = 5) {
  const end = performance.now() + limitMs
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    if (performance.now() > end) throw new Error(`${what} took longer than ${limitMs / 1000} s`)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

async function post(url, body) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return answer.json()
}
