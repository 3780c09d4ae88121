import { leaves, sectionText } from './leaves.ts'
import type { Config } from './schema.ts'

/** Returns a configuration with its secrets replaced, for printing. */
export function withoutSecrets(config: Config): Config {
  const shown = structuredClone(config)
  for (const { path, preset } of leaves.filter(({ isSecret }) => isSecret)) {
    const [section = '', name = ''] = path.split('.')
    const members = (shown as unknown as Record<string, Record<string, unknown>>)[section]
    if (members !== undefined && members[name] !== preset) members[name] = '(not shown)'
  }
  return shown
}

/** Returns a configuration file with every setting at its default and its description. */
export function defaultFile(): string {
  const lines = ['# Rhizome settings. The environment variable in brackets overrides the file; flags override both.']
  let section = ''
  for (const leaf of leaves) {
    const [first = '', second] = leaf.path.split('.')
    if (second !== undefined && first !== section) {
      section = first
      lines.push('', `[${first}]`, ...comment(sectionText(first)))
    }
    lines.push('', ...comment(leaf.description), ...comment(`${leaf.expects} (${leaf.environment})`))
    const name = second ?? first
    lines.push(leaf.preset === undefined ? `# ${name} =` : `${name} = ${tomlValue(leaf.preset)}`)
  }
  lines.push(
    '',
    '# Modules can be switched and their methods listed:',
    '# [modules.evm]',
    '# enabled = false',
    '# deny = ["evm_reset"]',
    '# allow = ["evm_mine"]',
    '# timeoutMs = { evm_mine = 1000 }',
    '# [http.modules.debug], for the address of [http] alone:',
    '# enabled = true',
    '',
    '# Further addresses. Absent settings are those of [http], except for tlsCert and tlsKey.',
    '# [[listen]]',
    '# host = "127.0.0.1"',
    '# port = 4445',
    '# access = "private"',
    '# modules.debug.enabled = true',
  )
  return `${lines.join('\n')}\n`
}

function comment(text: string): string[] {
  return text === '' ? [] : [`# ${text}`]
}

function tomlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(', ')}]`
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
