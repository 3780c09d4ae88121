import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../freePort.ts'
import { NatsProcess } from '../natsServer.ts'
import { NodeProcess, runCommand } from '../node.ts'
import { RedisProcess } from '../redis.ts'
import { HaproxyProcess } from './haproxyProcess.ts'

const replicaCount = 3
const keyCount = 12
export const accountCount = 50
/** A worker each: all processes share a small machine. */
const flags = ['--workers', '1', '--data-dir']

/** A process of the fleet that can be killed and started again with its data. */
export interface Part {
  readonly kill: () => Promise<unknown>
  readonly start: () => Promise<unknown>
}

/** A node with a fixed port and data directory. */
export class NodePart implements Part {
  readonly name: string
  readonly port: number
  readonly #folder: string
  readonly #flags: readonly string[]
  readonly #settings: string
  readonly #variables: Readonly<Record<string, string>>
  #process: NodeProcess | undefined

  constructor(
    name: string,
    port: number,
    folder: string,
    { flags = [], settings, variables }: { flags?: string[]; settings: string; variables: Record<string, string> },
  ) {
    this.name = name
    this.port = port
    this.#folder = folder
    this.#flags = flags
    this.#settings = settings
    this.#variables = variables
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** The running process. */
  get process(): NodeProcess {
    if (this.#process === undefined) throw new Error(`${this.name} does not run`)
    return this.#process
  }

  get isRunning(): boolean {
    return this.#process !== undefined
  }

  async start(): Promise<void> {
    const place = [...flags, join(this.#folder, this.name), '--http-port', String(this.port)]
    const variables = { RHIZOME_NETWORK: 'regtest', ...this.#variables }
    this.#process = await NodeProcess.start([...place, ...this.#flags], this.#settings, { variables })
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL')
  }

  async stop(): Promise<void> {
    await this.#end('SIGINT')
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const process = this.#process
    this.#process = undefined
    if (process === undefined) return
    await process.stop(signal)
    appendFileSync(join(this.#folder, `${this.name}.log`), `${process.errors}--- ${signal}\n`)
    if (/panicked|internal error/.test(process.errors)) throw new Error(`${this.name}: ${process.errors}`)
  }
}

/** One importer, three replicas, NATS, Redis and HAProxy, with the settings of docs/deploy/fleet. */
export class FleetProcesses {
  readonly nats: NatsProcess
  readonly importer: NodePart
  readonly replicas: readonly NodePart[]
  /** Peer of the importer outside of the fleet, for reorganizations. */
  readonly rival: NodePart
  /** URL of the balancer. */
  readonly url: string
  readonly keys: readonly string[]
  /** The processes to kill, by name. */
  readonly parts: ReadonlyMap<string, Part>
  readonly #redis: RedisProcess

  private constructor(
    servers: { nats: NatsProcess; redis: RedisProcess; haproxy: HaproxyProcess },
    nodes: { importer: NodePart; replicas: readonly NodePart[]; rival: NodePart },
    keys: readonly string[],
  ) {
    const { nats, redis, haproxy } = servers
    const restarting = (server: { kill: () => Promise<void>; restart: () => Promise<void> }): Part => ({
      kill: () => server.kill(),
      start: () => server.restart(),
    })
    this.nats = nats
    this.#redis = redis
    this.importer = nodes.importer
    this.replicas = nodes.replicas
    this.rival = nodes.rival
    this.url = haproxy.url
    this.keys = keys
    this.parts = new Map<string, Part>([
      ['importer', nodes.importer],
      ...nodes.replicas.map((replica) => [replica.name, replica] as const),
      ['nats', restarting(nats)],
      ['redis', restarting(redis)],
      ['haproxy', restarting(haproxy)],
    ])
  }

  static async start(folder: string): Promise<FleetProcesses> {
    const [nats, redis] = await Promise.all([NatsProcess.start(), RedisProcess.start()])
    const keys = await Promise.all(Array.from({ length: keyCount }, (_none, index) => newKey(redis, `app-${index}`)))
    const shared = {
      RHIZOME_FLEET_URL: nats.url,
      RHIZOME_STORE_URL: redis.url,
      RHIZOME_METRICS_PORT: '0',
      RHIZOME_DEVELOPMENT_ACCOUNTS: String(accountCount),
    }
    const peers = { RHIZOME_P2P_HOST: '127.0.0.1' }
    const importer = new NodePart('importer', await freePort(), folder, {
      flags: ['--mining', 'interval=1'],
      settings: deployed('importer'),
      variables: {
        ...shared,
        ...peers,
        RHIZOME_STORE_URL: 'embedded',
        RHIZOME_FLEET_NAME: 'importer',
        RHIZOME_P2P_PORT: String(await freePort()),
      },
    })
    const replicas: NodePart[] = []
    for (let number = 1; number <= replicaCount; number++) {
      const name = `replica-${number}`
      const variables = { ...shared, RHIZOME_FLEET_NAME: name, RHIZOME_HTTP_HOST: '127.0.0.1' }
      replicas.push(new NodePart(name, await freePort(), folder, { settings: deployed('replica'), variables }))
    }
    const rival = new NodePart('rival', await freePort(), folder, {
      flags: ['--mining', 'off'],
      // Its blocks differ from those of the importer.
      settings: `miner.extraData = "0x${Buffer.from('rival').toString('hex')}"\n`,
      variables: {
        ...peers,
        RHIZOME_DEVELOPMENT_ACCOUNTS: String(accountCount),
        RHIZOME_P2P_PORT: String(await freePort()),
      },
    })
    await Promise.all([importer, ...replicas, rival].map((node) => node.start()))
    const haproxy = await HaproxyProcess.start(
      folder,
      replicas.map(({ port }) => port),
    )
    return new FleetProcesses({ nats, redis, haproxy }, { importer, replicas, rival }, keys)
  }

  async stop(): Promise<void> {
    const nodes = [this.importer, ...this.replicas, this.rival]
    const ended = await Promise.allSettled(nodes.map((node) => node.stop()))
    await this.parts.get('haproxy')?.kill()
    await this.nats.kill()
    await this.#redis.stop()
    for (const one of ended) if (one.status === 'rejected') throw one.reason
  }
}

function deployed(role: string): string {
  return readFileSync(new URL(`../../../docs/deploy/fleet/${role}.toml`, import.meta.url), 'utf8')
}

async function newKey(redis: RedisProcess, name: string): Promise<string> {
  const { code, output, errors } = await runCommand(['keys', 'create', name, '--store', redis.url, '--json'])
  if (code !== 0) throw new Error(errors)
  return (JSON.parse(output) as { key: string }).key
}
