/** Wire names of all methods, to resolve the entries of allow lists. */
export class MethodGroups {
  readonly #groups: readonly (readonly string[])[]

  /** Each group contains the names of one method: name and aliases have the same rights. */
  constructor(groups: readonly (readonly string[])[]) {
    this.#groups = groups
  }

  /** Resolves a list of names and `group_*` to wire names. */
  namesOf(list: readonly string[]): ReadonlySet<string> {
    const names = new Set(list.filter((entry) => !entry.endsWith('*')))
    const prefixes = list.filter((entry) => entry.endsWith('*')).map((entry) => entry.slice(0, -1))
    const isListed = (name: string) => names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))
    return new Set(this.#groups.filter((group) => group.some(isListed)).flat())
  }
}
