/** Strongly connected components of a graph `Map<node, Set<node>>` with more than `most` nodes, sorted (Tarjan). */
export function circles(graph, most) {
  const found = []
  const state = new Map()
  const stack = []
  let counter = 0
  const visit = (node) => {
    const own = { index: counter, low: counter, isOnStack: true }
    counter++
    state.set(node, own)
    stack.push(node)
    for (const next of graph.get(node) ?? []) {
      const other = state.get(next)
      if (other === undefined) own.low = Math.min(own.low, visit(next).low)
      else if (other.isOnStack) own.low = Math.min(own.low, other.index)
    }
    if (own.low === own.index) {
      const members = stack.splice(stack.indexOf(node))
      for (const member of members) state.get(member).isOnStack = false
      if (members.length > most) found.push(members.sort())
    }
    return own
  }
  for (const node of graph.keys()) if (!state.has(node)) visit(node)
  return found
}
