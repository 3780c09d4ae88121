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

/** No node outlives the tests that started it, whatever becomes of them. */
const children = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

/** What a node prints when it serves. */
interface Places {
  readonly url: string
  readonly urls: string[]
  readonly metricsUrl?: string
  readonly adminUrl?: string
}

/** How a node is started. */
interface Surroundings {
  readonly variables?: Readonly<Record<string, string>>
  /** A program that runs the command behind it. */
  readonly before?: readonly string[]
}

/** A real node in a process of its own. */
export class NodeProcess {
  readonly url: string
  /** Of all addresses. */
  readonly urls: readonly string[]
  readonly child: ChildProcess
  /** Where the figures are, when they are served. */
  readonly metricsUrl: string | undefined
  /** Where the operator's page is, when it is served. */
  readonly adminUrl: string | undefined
  readonly #exit: Promise<number>
  readonly #errors: () => string

  private constructor(
    { url, urls, metricsUrl, adminUrl }: Places,
    child: ChildProcess,
    exit: Promise<number>,
    errors: () => string,
  ) {
    this.url = url
    this.urls = urls
    this.metricsUrl = metricsUrl
    this.adminUrl = adminUrl
    this.child = child
    this.#exit = exit
    this.#errors = errors
  }

  /** Starts one on a free port; ephemeral unless a data directory is given. Rejects with what it printed when it ends early. */
  static async start(
    flags: readonly string[] = [],
    settings?: string,
    { variables = {}, before = [] }: Surroundings = {},
  ): Promise<NodeProcess> {
    const place = flags.includes('--data-dir') ? [] : ['--ephemeral']
    const file = settings === undefined ? [] : ['--config', configFile(settings)]
    const flagsOfAll = ['--json', '--http-port', '0', '--log-level', 'warn', ...place, ...file, ...flags]
    const [command = '', ...parameters] = [...before, process.execPath, program, 'start', ...flagsOfAll]
    const env = { ...process.env, ...variables }
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
    const places = JSON.parse(ready.split('\n')[0] ?? '') as Places
    return new NodeProcess(places, child, exit, () => errors)
  }

  /** What the node wrote to its log. */
  get errors(): string {
    return this.#errors()
  }

  /** Exit code, when the node has ended by itself. */
  get ended(): Promise<number> {
    return this.#exit
  }

  /** Ends the node and returns its exit code. */
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

  /** Asks one question; the whole answer. */
  async ask(
    method: string,
    params: unknown[] = [],
  ): Promise<{ result?: never; error?: { code: number; message: string; data?: string } }> {
    return (await this.post(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))).body as never
  }

  /** The result of a question that must succeed. */
  async result<T>(method: string, params: unknown[] = []): Promise<T> {
    const answer = await this.ask(method, params)
    if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.code} ${answer.error.message}`)
    return answer.result as T
  }
}

/** What a program that ended has left. */
export interface Ended {
  readonly code: number
  readonly output: string
  readonly errors: string
}

/** Runs a command to its end. */
export function runCommand(parameters: readonly string[]): Promise<Ended> {
  return runProgram([program, ...parameters])
}

/** Runs Node.js, or another program, to its end. */
export function runProgram(
  parameters: readonly string[],
  command = process.execPath,
  variables: Readonly<Record<string, string>> = {},
): Promise<Ended> {
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
