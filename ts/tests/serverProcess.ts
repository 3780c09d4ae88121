import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'

const children = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

/** A server of another project, as a child process that ends with the tests. */
export class ServerProcess {
  #child: ChildProcess | undefined

  start(program: string, flags: readonly string[], options: SpawnOptions = {}): void {
    const child = spawn(program, flags, { ...options, stdio: 'ignore' })
    this.#child = child
    children.add(child)
    child.once('exit', () => children.delete(child))
  }

  /** Whether the server runs. */
  get isRunning(): boolean {
    const child = this.#child
    return child !== undefined && child.exitCode === null && child.signalCode === null
  }

  /** Kills the server and waits for its end. Does nothing if it does not run. */
  async kill(): Promise<void> {
    const child = this.#child
    if (child === undefined || !this.isRunning) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }
}
