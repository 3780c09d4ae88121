/** What the YAML files of the project hold. */
export type Yaml = string | null | Yaml[] | { [name: string]: Yaml }

interface Line {
  readonly indent: number
  readonly text: string
}

/** Reads the part of YAML that compose and Prometheus files need: maps, lists, texts, lists of texts in brackets. Anything else is an error. */
export function parseYaml(source: string): Yaml {
  const lines = source
    .split('\n')
    .filter((line) => !/^\s*(#|$)/.test(line))
    .map((line): Line => {
      if (/\t|\s$/.test(line)) throw new SyntaxError(`tab or blank at the end: ${line}`)
      const text = line.trimStart()
      return { indent: line.length - text.length, text }
    })
  const rest = [...lines]
  const value = readBlock(rest, 0)
  if (rest[0] !== undefined) throw new SyntaxError(`indented wrongly: ${rest[0].text}`)
  return value
}

function readBlock(lines: Line[], indent: number): Yaml {
  return lines[0]?.text.startsWith('- ') === true ? readList(lines, indent) : readMap(lines, indent)
}

function readList(lines: Line[], indent: number): Yaml[] {
  const items: Yaml[] = []
  while (lines[0]?.indent === indent && lines[0].text.startsWith('- ')) {
    const text = lines[0].text.slice(2)
    if (/^[A-Za-z_]+:( |$)/.test(text)) {
      lines[0] = { indent: indent + 2, text }
      items.push(readMap(lines, indent + 2))
    } else {
      lines.shift()
      items.push(readScalar(text))
    }
  }
  return items
}

function readMap(lines: Line[], indent: number): { [name: string]: Yaml } {
  const map: { [name: string]: Yaml } = {}
  for (let line = lines[0]; line?.indent === indent; line = lines[0]) {
    const [, name = '', value] = /^([A-Za-z_]+):(?: (.+))?$/.exec(line.text) ?? []
    if (name === '' || name in map) throw new SyntaxError(`no name, or twice: ${line.text}`)
    lines.shift()
    const next = lines[0]
    if (value !== undefined) map[name] = readScalar(value)
    else map[name] = next !== undefined && next.indent > indent ? readBlock(lines, next.indent) : null
  }
  return map
}

function readScalar(text: string): Yaml {
  if (text.startsWith('[') || text.startsWith('"')) return JSON.parse(text) as Yaml
  if (/^[&*!|>{%@`']|: | #/.test(text)) throw new SyntaxError(`not read here: ${text}`)
  return text
}
