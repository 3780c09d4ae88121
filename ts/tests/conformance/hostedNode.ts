import { type ChildProcess, fork } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Settings } from './settings.ts'

/** Outcomes of imported blocks, and the error of the block that ended the import. */
export interface Import {
  readonly outcomes: readonly { readonly hash: string; readonly result: string }[]
  readonly error?: string
}

/** A node in a separate process that imports blocks while it serves, as a node with peers does. */
export class HostedNode {
  readonly url: string
  readonly #child: ChildProcess
  readonly #logged: () => string

  private constructor(url: string, child: ChildProcess, logged: () => string) {
    this.url = url
    this.#child = child
    this.#logged = logged
  }

  /** `root` is the folder of the project. */
  static async start(root: string, settings: Settings): Promise<HostedNode> {
    const child = fork(join(root, 'ts/tests/conformance/host.mjs'), {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      execArgv: [],
    })
    let logged = ''
    child.stderr?.on('data', (bytes) => {
      logged += bytes
    })
    const { url } = await request<{ url: string }>(child, 'start', { settings: { ...settings, ephemeral: true } })
    return new HostedNode(url, child, () => logged)
  }

  /** Returns the log of the node. */
  get log(): string {
    return this.#logged()
  }

  /** Imports lines of a block file. */
  async importLines(lines: readonly string[]): Promise<Import> {
    const path = join(tmpdir(), `rhizome-blocks-${process.pid}-${requests}.txt`)
    writeFileSync(path, `${lines.join('\n')}\n`)
    try {
      return await request<Import>(this.#child, 'import', { path })
    } finally {
      rmSync(path)
    }
  }

  async stop(): Promise<void> {
    if (this.#child.connected) await request(this.#child, 'stop', {}).catch(() => this.#child.kill('SIGKILL'))
  }
}

let requests = 0

function request<T>(child: ChildProcess, task: string, parameters: object): Promise<T> {
  const id = requests++
  return new Promise((resolve, reject) => {
    const onExit = (): void => reject(new Error('the node has ended'))
    const onMessage = (message: { id: number; failure?: string }): void => {
      if (message.id !== id) return
      child.off('message', onMessage)
      child.off('exit', onExit)
      if (message.failure === undefined) resolve(message as T)
      else reject(new Error(message.failure))
    }
    child.on('message', onMessage)
    child.once('exit', onExit)
    child.send({ id, task, ...parameters })
  })
}
