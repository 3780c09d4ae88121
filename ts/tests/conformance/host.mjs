// A node in a process of its own, for the replay of transcripts: started with settings, given blocks, ended.
import { startNode } from '../../dist/index.js'

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
    const error = await node.native.importBlocks(path, '{}', onProgress).then(
      () => undefined,
      (reason) => reason.message,
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
