// Upper bound of the transport: uWebSockets.js, JSON.parse of the body, and a constant answer of the size in the path. Also a
// program: `node ceiling.mjs PORT WORKERS`.

import uws from 'uWebSockets.js'
import { fileURLToPath } from 'node:url'
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import { answers, freePort, launch, Target } from './target.mjs'

export async function startCeiling({ workers }) {
  const port = await freePort()
  const began = performance.now()
  const child = launch(process.execPath, [fileURLToPath(import.meta.url), `${port}`, `${workers}`])
  const url = `http://127.0.0.1:${port}`
  await answers(`${url}/50`, child)
  return new Target({ name: 'ceiling', url, child, startMs: performance.now() - began })
}

/** Answer to a request on the path `/SIZE`; the whole text has that size. */
export function ceilingAnswer(id, size) {
  const head = `{"jsonrpc":"2.0","id":${id},"result":"`
  return head + tail(Math.max(0, size - head.length - 2))
}

const tails = new Map()

function tail(length) {
  let text = tails.get(length)
  if (text === undefined) {
    text = `${'x'.repeat(length)}"}`
    tails.set(length, text)
  }
  return text
}

/** Answer to a batch on the path `/SIZE,SIZE,...`, with one text of each size. */
export function ceilingBatch(ids, sizes) {
  return `[${ids.map((id, index) => ceilingAnswer(id, sizes[index])).join(',')}]`
}

function serve(port) {
  return new Promise((resolve, reject) => {
    const app = uws.App()
    app.post('/*', (response, request) => {
      const sizes = request.getUrl().slice(1).split(',').map(Number)
      response.onAborted(() => undefined)
      let pieces
      response.onData((chunk, isLast) => {
        const piece = Buffer.from(chunk)
        if (!isLast) {
          pieces = Buffer.concat([pieces ?? Buffer.alloc(0), piece])
          return
        }
        const body = JSON.parse((pieces === undefined ? piece : Buffer.concat([pieces, piece])).toString())
        const answer = Array.isArray(body)
          ? ceilingBatch(
              body.map(({ id }) => id),
              sizes,
            )
          : ceilingAnswer(body.id, sizes[0])
        response.cork(() => {
          response.writeHeader('Content-Type', 'application/json')
          response.end(answer)
        })
      })
    })
    app.listen('127.0.0.1', port, (socket) => {
      if (socket === false) reject(new Error(`the ceiling cannot listen on port ${port}`))
      else resolve()
    })
  })
}

if (!isMainThread && workerData?.ceilingPort !== undefined) await serve(workerData.ceilingPort)
else if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [ceilingPort, workers] = process.argv.slice(2).map(Number)
  for (let number = 1; number < workers; number++) new Worker(new URL(import.meta.url), { workerData: { ceilingPort } })
  // The main thread serves as well.
  await serve(ceilingPort)
}
