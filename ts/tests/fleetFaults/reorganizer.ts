import type { FleetProcesses, NodePart } from './fleetProcesses.ts'
import type { Incidents } from './incidents.ts'

/** Blocks by which the branch of the rival is longer: the importer mines on while it learns of them. */
const lead = 3
const lookMs = 50
/** Time for a step, e.g. the connection of the two nodes. */
const stepMs = 20_000
/** Time after a start in which the importer is left alone. */
const settleMs = 3000

interface Head {
  readonly number: number
  readonly hash: string
}

/** Replaces the last blocks of the importer by those of a peer that mines a longer branch. */
export class Reorganizer {
  /** Depths of the reorganizations. */
  readonly depths: number[] = []
  readonly #importer: NodePart
  readonly #rival: NodePart
  readonly #incidents: Incidents

  constructor({ importer, rival }: FleetProcesses, incidents: Incidents) {
    this.#importer = importer
    this.#rival = rival
    this.#incidents = incidents
  }

  async start(): Promise<void> {
    // Many blocks at once, a second apart.
    await this.#rival.process.result('anvil_setBlockTimestampInterval', [1])
    await this.#join()
  }

  /** Replaces a number of blocks. Gives up when the importer is killed. */
  async run(depth: number): Promise<void> {
    try {
      while (this.#incidents.isNear('importer', settleMs)) await pause(lookMs)
      await this.#join()
      const fork = await this.#together()
      await this.#rival.process.result('admin_removePeer', [await this.#enode()])
      const old = await this.#reaches((head) => head.number >= fork.number + depth)
      await this.#rival.process.result('hardhat_mine', [`0x${(depth + lead).toString(16)}`, '0x1'])
      const { number, hash } = await headOf(this.#rival)
      await this.#join()
      await this.#reaches((head) => head.number >= number)
      const found = await this.#importer.process.result<Head>('eth_getBlockByNumber', [
        `0x${number.toString(16)}`,
        false,
      ])
      const replaced = old.number - fork.number
      if (found.hash === hash) {
        this.depths.push(replaced)
        this.#incidents.tell(`${replaced} blocks above ${fork.number} replaced by ${depth + lead}`)
      } else this.#incidents.tell(`the branch above ${fork.number} was too short`)
    } catch (error) {
      if (!this.#incidents.isNear('importer', settleMs)) throw error
      this.#incidents.tell('no reorganization: the importer was killed')
    }
  }

  async #join(): Promise<void> {
    await this.#rival.process.result('admin_addPeer', [await this.#enode()])
  }

  async #enode(): Promise<string> {
    return (await this.#importer.process.result<{ enode: string }>('admin_nodeInfo')).enode
  }

  /** Waits until both have the same head. */
  async #together(): Promise<Head> {
    const until = performance.now() + stepMs
    for (;;) {
      const [own, other] = await Promise.all([headOf(this.#importer), headOf(this.#rival)])
      if (own.hash === other.hash) return own
      if (performance.now() > until) throw new Error(`the importer is at ${own.number}, its peer at ${other.number}`)
      await pause(lookMs)
    }
  }

  async #reaches(isThere: (head: Head) => boolean): Promise<Head> {
    const until = performance.now() + stepMs
    for (;;) {
      const head = await headOf(this.#importer)
      if (isThere(head)) return head
      if (performance.now() > until) throw new Error(`the importer stays at ${head.number}`)
      await pause(lookMs)
    }
  }
}

export async function headOf(node: NodePart, key = ''): Promise<Head> {
  const headers = { 'content-type': 'application/json', ...(key !== '' && { 'x-api-key': key }) }
  const request = { jsonrpc: '2.0', id: 1, method: 'eth_getBlockByNumber', params: ['latest', false] }
  const { body } = await node.process.post(JSON.stringify(request), headers)
  const { number, hash } = (body as { result: { number: string; hash: string } }).result
  return { number: Number(number), hash }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
