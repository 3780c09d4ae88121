/** A log of an event or of a filter. */
export interface ChainLog {
  readonly address: string
  readonly blockNumber: string
  readonly blockHash: string
  readonly logIndex: string
  readonly removed: boolean
}

/** Logs of the best chain as a client knows them; throws if a log does not continue them. */
export class LogModel {
  readonly #logs: ChainLog[] = []

  apply(logs: readonly ChainLog[]): void {
    for (const log of logs) {
      const last = this.#logs.at(-1)
      if (log.removed) this.#remove(log)
      else if (last !== undefined && !isBefore(last, log)) throw new Error(`${nameOf(log)} after ${nameOf(last)}`)
      else this.#logs.push(log)
    }
  }

  get names(): string[] {
    return this.#logs.map(nameOf)
  }

  /** Removes a log. Logs of a block may be removed in any order, those of the last block first. */
  #remove(log: ChainLog): void {
    const index = this.#logs.findLastIndex((one) => nameOf(one) === nameOf(log))
    if (index < 0) throw new Error(`${nameOf(log)} removed, but not there`)
    const last = this.#logs.at(-1)
    if (last?.blockHash !== log.blockHash) throw new Error(`${nameOf(log)} removed before ${last && nameOf(last)}`)
    this.#logs.splice(index, 1)
  }
}

export function nameOf({ blockNumber, blockHash, logIndex }: ChainLog): string {
  return `${Number(blockNumber)}-${blockHash}-${Number(logIndex)}`
}

function isBefore(one: ChainLog, other: ChainLog): boolean {
  const [height, next] = [Number(one.blockNumber), Number(other.blockNumber)]
  return height < next || (one.blockHash === other.blockHash && Number(one.logIndex) < Number(other.logIndex))
}
