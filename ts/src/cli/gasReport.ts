/** Methods listed at most: transactions can have any selector. */
const maxMethods = 1000

interface Row {
  count: number
  total: bigint
  least: bigint
  most: bigint
}

/** Gas of the transactions of a run, by contract and method. */
export class GasReport {
  readonly #rows = new Map<string, Row>()

  /** Adds a transaction. `contract`: its name or address. `method`: its name or selector. */
  add(contract: string, method: string, gas: bigint): void {
    const key = `${contract}\t${method}`
    const row = this.#rows.get(key)
    if (row === undefined) {
      if (this.#rows.size < maxMethods) this.#rows.set(key, { count: 1, total: gas, least: gas, most: gas })
      return
    }
    row.count++
    row.total += gas
    if (gas < row.least) row.least = gas
    if (gas > row.most) row.most = gas
  }

  /** Returns the table; no lines without transactions. */
  lines(): string[] {
    if (this.#rows.size === 0) return []
    const header = ['contract', 'method', 'calls', 'least', 'average', 'most']
    const rows = [...this.#rows]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, { count, total, least, most }]) => [
        ...key.split('\t'),
        ...[count, least, total / BigInt(count), most].map(String),
      ])
    const table = [header, ...rows]
    const widths = header.map((_name, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)))
    return table.map((row) =>
      row
        .map((cell, column) => (column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
  }
}
