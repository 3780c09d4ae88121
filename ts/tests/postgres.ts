import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import pg from 'pg'
import { describe } from 'vitest'
import { freePort } from './freePort.ts'
import { scratchFolder } from './node.ts'
import { ServerProcess } from './serverProcess.ts'

/** Folder of the programs of distributions, which are not in the path. */
const versions = '/usr/lib/postgresql'
const folders = existsSync(versions) ? readdirSync(versions).map((name) => join(versions, name, 'bin')) : []
const programs = [...folders, '/usr/local/bin', '/usr/bin'].find((folder) => existsSync(join(folder, 'initdb')))
const isRoot = process.getuid?.() === 0
/** The server refuses to run as root. */
const owner = isRoot ? ownerOfServers() : undefined
const absence =
  programs === undefined
    ? 'PostgreSQL is not installed'
    : isRoot && owner === undefined
      ? 'no user postgres'
      : undefined

/** Defines tests that need PostgreSQL; without it they are skipped with the reason in their name. */
export function describeWithPostgres(name: string, tests: () => void): void {
  if (absence === undefined) describe(name, tests)
  else describe.skip(`${name} (skipped: ${absence})`, tests)
}

/** A PostgreSQL server on a free loopback port. */
export class PostgresProcess {
  readonly url: string
  readonly #process = new ServerProcess()

  private constructor(url: string) {
    this.url = url
  }

  static async start(): Promise<PostgresProcess> {
    const port = await freePort()
    const server = new PostgresProcess(`postgres://tests@127.0.0.1:${port}/postgres`)
    const folder = scratchFolder()
    const data = join(folder, 'data')
    mkdirSync(data, { mode: 0o700 })
    if (owner !== undefined) {
      for (const path of [folder, data]) chownSync(path, owner.uid, owner.gid)
      // The folder of all tests is root's alone: the server has to pass through.
      if (basename(tmpdir()).startsWith('rhizome-tests-')) chmodSync(tmpdir(), 0o711)
    }
    const flags = ['-D', data, '-U', 'tests', '-A', 'trust', '-E', 'UTF8', '--locale', 'C', '--no-sync']
    execFileSync(join(programs ?? '', 'initdb'), flags, { stdio: 'ignore', cwd: folder, ...owner })
    const place = ['-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', folder, '-c', 'shared_buffers=8MB']
    server.#process.start(join(programs ?? '', 'postgres'), place, { cwd: folder, ...owner })
    while (!(await server.#takesQueries())) await new Promise((resolve) => setTimeout(resolve, 50))
    return server
  }

  /** Returns the rows of a query. */
  async query<Row extends object>(text: string): Promise<Row[]> {
    const client = new pg.Client({ connectionString: this.url })
    await client.connect()
    try {
      return (await client.query<Row>(text)).rows
    } finally {
      await client.end()
    }
  }

  async kill(): Promise<void> {
    await this.#process.kill()
  }

  async #takesQueries(): Promise<boolean> {
    return this.query('SELECT 1').then(
      () => true,
      () => false,
    )
  }
}

function ownerOfServers(): { uid: number; gid: number } | undefined {
  try {
    const [uid, gid] = ['-u', '-g'].map((flag) =>
      Number(execFileSync('id', [flag, 'postgres'], { stdio: ['ignore', 'pipe', 'ignore'] })),
    )
    return uid === undefined || gid === undefined ? undefined : { uid, gid }
  } catch {
    return undefined
  }
}
