import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The program under test. */
export const program = fileURLToPath(new URL('../rhizome.mjs', import.meta.url))

/** A folder for the files of one test program. */
export function scratchFolder(): string {
  return mkdtempSync(join(tmpdir(), 'rhizome-test-'))
}

/** Running nodes, killed when the tests end for any reason. */
const children = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

/** The line that a node prints when it serves. */
interface ServedUrls {
  readonly url: string
  readonly urls: string[]
  readonly metricsUrl?: string
  readonly adminUrl?: string
  readonly explorerUrl?: string
}

/** Environment of a new node. */
export interface StartOptions {
  readonly variables?: Readonly<Record<string, string>>
  /** A command that runs the node as its last arguments. */
  readonly before?: readonly string[]
}

/** A real node in a separate process. */
export class NodeProcess {
  readonly url: string
  /** URLs of all addresses. */
  readonly urls: readonly string[]
  readonly child: ChildProcess
  /** URL of the metrics, if they are served. */
  readonly metricsUrl: string | undefined
  /** URL of the operator's page, if it is served. */
  readonly adminUrl: string | undefined
  /** URL of the explorer, if it is served. */
  readonly explorerUrl: string | undefined
  readonly #exit: Promise<number>
  readonly #errors: () => string

  private constructor(
    { url, urls, metricsUrl, adminUrl, explorerUrl }: ServedUrls,
    child: ChildProcess,
    exit: Promise<number>,
    errors: () => string,
  ) {
    this.url = url
    this.urls = urls
    this.metricsUrl = metricsUrl
    this.adminUrl = adminUrl
    this.explorerUrl = explorerUrl
    this.child = child
    this.#exit = exit
    this.#errors = errors
  }

  /** Starts a node on a free port, ephemeral unless a data directory is given. Rejects with its errors if it exits early. */
  static async start(
    flags: readonly string[] = [],
    settings?: string,
    { variables = {}, before = [] }: StartOptions = {},
  ): Promise<NodeProcess> {
    const place = flags.includes('--data-dir') ? [] : ['--ephemeral']
    const file = settings === undefined ? [] : ['--config', configFile(settings)]
    const flagsOfAll = ['--json', '--http-port', '0', '--log-level', 'warn', ...place, ...file, ...flags]
    const [command = '', ...parameters] = [...before, process.execPath, program, 'start', ...flagsOfAll]
    // Tests connect to this machine only.
    const env = { RHIZOME_P2P_PORT: '0', ...process.env, ...variables }
    const child = spawn(command, parameters, { stdio: ['ignore', 'pipe', 'pipe'], env })
    children.add(child)
    child.on('close', () => children.delete(child))
    let output = ''
    let errors = ''
    child.stderr.on('data', (bytes) => {
      errors += bytes
    })
    const exit = new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? -1)))
    const line = new Promise<string>((resolve) => {
      child.stdout.on('data', (bytes) => {
        output += bytes
        if (output.includes('\n')) resolve(output)
      })
    })
    const ready = await Promise.race([line, exit])
    if (typeof ready === 'number') throw new Error(`the node ended with ${ready}: ${errors}`)
    const served = JSON.parse(ready.split('\n')[0] ?? '') as ServedUrls
    return new NodeProcess(served, child, exit, () => errors)
  }

  /** Returns the log of the node. */
  get errors(): string {
    return this.#errors()
  }

  /** Resolves with the exit code when the node exits. */
  get ended(): Promise<number> {
    return this.#exit
  }

  /** Stops the node and returns its exit code. */
  stop(signal: NodeJS.Signals = 'SIGINT'): Promise<number> {
    this.child.kill(signal)
    return this.#exit
  }

  /** POSTs a body. */
  async post(
    body: string,
    headers: Record<string, string> = { 'content-type': 'application/json' },
  ): Promise<{ status: number; text: string; body: unknown }> {
    const response = await fetch(this.url, { method: 'POST', headers, body })
    const text = await response.text()
    return { status: response.status, text, body: parsed(text) }
  }

  /** Sends one request and returns the whole answer. */
  async ask(
    method: string,
    params: unknown[] = [],
  ): Promise<{ result?: never; error?: { code: number; message: string; data?: string } }> {
    return (await this.post(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))).body as never
  }

  /** Returns the result of a request that must succeed. */
  async result<T>(method: string, params: unknown[] = []): Promise<T> {
    const answer = await this.ask(method, params)
    if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.code} ${answer.error.message}`)
    return answer.result as T
  }
}

/** Exit code and output of a program. */
export interface ProgramResult {
  readonly code: number
  readonly output: string
  readonly errors: string
}

/** Runs a command to its end. */
export function runCommand(parameters: readonly string[]): Promise<ProgramResult> {
  return runProgram([program, ...parameters])
}

/** Runs Node.js, or another program, to its end. */
export function runProgram(
  parameters: readonly string[],
  command = process.execPath,
  variables: Readonly<Record<string, string>> = {},
  onStart: (child: ChildProcess) => unknown = () => undefined,
): Promise<ProgramResult> {
  return new Promise((resolve) => {
    const child = spawn(command, parameters, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...variables },
    })
    let output = ''
    let errors = ''
    child.stdout.on('data', (bytes) => {
      output += bytes
    })
    child.stderr.on('data', (bytes) => {
      errors += bytes
    })
    child.on('close', (code) => resolve({ code: code ?? -1, output, errors }))
    onStart(child)
  })
}

/** A configuration file with these settings. */
export function configFile(settings: string): string {
  const path = join(scratchFolder(), 'rhizome.toml')
  writeFileSync(path, settings)
  return path
}

function parsed(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return text
  }
}
