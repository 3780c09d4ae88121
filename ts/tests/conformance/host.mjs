// A node in a separate process for the replay of transcripts. The parent sends settings and blocks, then stops it.
import { createRequire } from 'node:module'
import { startNode } from '../../dist/index.js'

// The native addon of this process, which the package does not export.
const addon = createRequire(import.meta.url)('../../src/native/rhizome.node')

let node

const tasks = {
  async start({ settings }) {
    node = await startNode(settings)
    return { url: node.url }
  },
  async import({ path }) {
    const outcomes = []
    const onProgress = (_error, progress) => {
      const { hash, result } = JSON.parse(progress)
      outcomes.push({ hash, result })
    }
    const error = await addon.importBlocks(path, '{}', onProgress).then(
      () => undefined,
      (reason) => JSON.parse(reason.message).message,
    )
    return { outcomes, error }
  },
  async stop() {
    await node.stop()
    return {}
  },
}

process.on('message', async ({ id, task, ...parameters }) => {
  const reply = await tasks[task](parameters).catch((error) => ({ failure: error.message }))
  process.send({ id, ...reply }, () => {
    if (task === 'stop') process.exit(0)
  })
})
process.on('disconnect', () => process.exit(1))
