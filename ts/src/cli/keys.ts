import { Command, InvalidArgumentError } from 'commander'
import { type App, appNamed, createApp, editApp, nameForm, revokeApp, rotateKey } from '../auth/app.ts'
import { appView, keyUrls } from '../auth/appView.ts'
import type { ServiceStore } from '../auth/store.ts'
import { ConfigError } from '../config/error.ts'
import type { Config } from '../config/schema.ts'
import { urlOf } from '../http/url.ts'
import { keepsApps, openStoreBeside } from '../serviceStore.ts'
import { addChainOptions, addStoreOption, configFrom, type Parsed } from './options.ts'
import { addPolicyOptions, type PolicyOptions, policyChange } from './policyOptions.ts'
import { printUsage } from './usage.ts'

type Options = Parsed &
  PolicyOptions & {
    json?: boolean
    description?: string
    useCase?: string
    expires?: number
    keep?: number
  }

/** Commands for API keys. A running node applies changes within a second. */
export function keysCommand(): Command {
  const keys = new Command('keys').description('Create, list, show, edit, rotate and revoke API keys')
  keys.addCommand(
    described(withExpiry(subcommand('create', 'Create an app and print its key, which is not shown again')))
      .argument('<name>', 'unique; letters, digits, dot, dash and underscore', appName)
      .action(create),
  )
  keys.addCommand(
    described(subcommand('edit', 'Change an app; only the given flags have an effect'))
      .argument('<name>', 'the app', appName)
      .action(edit),
  )
  keys.addCommand(subcommand('list', 'List all apps').action(list))
  keys.addCommand(subcommand('show', 'Show one app').argument('<name>', 'the app', appName).action(show))
  keys.addCommand(
    withExpiry(subcommand('rotate', 'Create a new key for an app and print it'))
      .argument('<name>', 'the app', appName)
      .option('--keep <seconds>', 'seconds for which the previous key stays valid (default: 0)', wholeSeconds)
      .action(rotate),
  )
  keys.addCommand(
    subcommand('revoke', 'Revoke an app and its keys permanently')
      .argument('<name>', 'the app', appName)
      .action(revoke),
  )
  keys.addCommand(
    subcommand('usage', 'Show the usage of apps by UTC day and month')
      .argument('[name]', 'the app (default: all apps)', appName)
      .action(usage),
  )
  return keys
}

function described(command: Command): Command {
  return addPolicyOptions(command)
    .option('--description <text>', 'description of the app', freeText)
    .option('--use-case <text>', 'e.g. DeFi, analytics, gaming, wallet', freeText)
}

function subcommand(name: string, description: string): Command {
  return addStoreOption(addChainOptions(new Command(name).description(description))).option('--json', 'print JSON')
}

function withExpiry(command: Command): Command {
  return command.option('--expires <time>', 'end of the key, e.g. 2030-12-31 or 2030-12-31T12:00:00Z', futureTime)
}

function create(name: string, options: Options): Promise<void> {
  const { description = '', useCase = '', expires = null } = options
  return withStore(options, async (config, { apps: store }) => {
    const app = { name, description, useCase, network: config.network, expiresAt: expires }
    const policy = policyChange(options, [])
    const { apps, key } = await store.change((before) => createApp(before, { ...app, ...policy }, Date.now()))
    printKey(config, appNamed(apps, name), key, options)
  })
}

function edit(name: string, options: Options): Promise<void> {
  const { description, useCase } = options
  const described = { ...(description !== undefined && { description }), ...(useCase !== undefined && { useCase }) }
  return withStore(options, async (_config, { apps: store }) => {
    const { apps } = await store.change((before) => {
      const policy = policyChange(options, appNamed(before, name).jwt.keys)
      return { apps: editApp(before, name, { ...described, ...policy }) }
    })
    print(appView(appNamed(apps, name), Date.now()), options)
  })
}

function usage(name: string | undefined, options: Options): Promise<void> {
  return withStore(options, (_config, store) => printUsage(store, name, options.json === true))
}

function rotate(name: string, options: Options): Promise<void> {
  const terms = { keepMs: (options.keep ?? 0) * 1000, expiresAt: options.expires ?? null }
  return withStore(options, async (config, { apps: store }) => {
    const { apps, key } = await store.change((before) => rotateKey(before, name, terms, Date.now()))
    printKey(config, appNamed(apps, name), key, options)
  })
}

function revoke(name: string, options: Options): Promise<void> {
  return withStore(options, async (_config, { apps: store }) => {
    const { apps } = await store.change((before) => ({ apps: revokeApp(before, name, Date.now()) }))
    print(appView(appNamed(apps, name), Date.now()), options)
  })
}

function show(name: string, options: Options): Promise<void> {
  return withStore(options, async (_config, store) =>
    print(appView(appNamed(await store.apps.read(), name), Date.now()), options),
  )
}

function list(options: Options): Promise<void> {
  return withStore(options, async (_config, store) => {
    const apps = (await store.apps.read()).map((app) => appView(app, Date.now()))
    if (options.json === true) process.stdout.write(`${JSON.stringify(apps)}\n`)
    for (const { name, network, state, useCase } of options.json === true ? [] : apps) {
      process.stdout.write(`${name.padEnd(24)} ${network.padEnd(8)} ${state.padEnd(8)} ${useCase}\n`)
    }
  })
}

async function withStore(
  options: Options,
  work: (config: Config, store: ServiceStore) => Promise<void>,
): Promise<void> {
  const config = configFrom(options)
  if (!keepsApps(config)) throw new ConfigError(['auth.file: is needed for the keys of an ephemeral node'])
  const store = await openStoreBeside(config)
  try {
    await work(config, store)
  } finally {
    await store.close()
  }
}

function printKey(config: Config, app: App, key: string, options: Options): void {
  const { http, auth } = config
  const urls = keyUrls(
    auth.url === '' ? urlOf(http.host, http.port, http.tlsCert === '' ? 'http' : 'https') : auth.url,
    key,
  )
  print({ ...appView(app, Date.now()), key, urls }, options)
}

function print(value: object, { json }: Options): void {
  if (json === true) {
    process.stdout.write(`${JSON.stringify(value)}\n`)
    return
  }
  for (const [name, part] of Object.entries(value)) {
    if (name === 'allow' || name === 'jwt' || name === 'limits') printPolicy(name, part as object)
    else for (const [index, line] of linesOf(name, part).entries()) printLine(index === 0 ? name : '', line)
  }
}

/** Prints the restrictions of a policy. */
function printPolicy(name: string, members: object): void {
  for (const [member, value] of Object.entries(members)) {
    if (value === null || value === false || (Array.isArray(value) && value.length === 0)) continue
    const lines = [value].flat().map((one) => (typeof one === 'object' ? `${one.kid} (${one.alg})` : String(one)))
    for (const [index, line] of lines.entries()) printLine(index === 0 ? `${name}.${member}` : '', line)
  }
}

function linesOf(name: string, part: unknown): string[] {
  if (name === 'urls') return Object.values(part as Record<string, string>)
  return [typeof part === 'string' ? part : JSON.stringify(part)]
}

function printLine(name: string, text: string): void {
  process.stdout.write(`${name.padEnd(22)} ${text}\n`)
}

function appName(text: string): string {
  if (nameForm.test(text)) return text
  throw new InvalidArgumentError('Expected up to 64 letters, digits, dots, dashes and underscores.')
}

function freeText(text: string): string {
  if (text.length <= 200 && !/\p{Cc}/u.test(text)) return text
  throw new InvalidArgumentError('Expected one line of at most 200 characters.')
}

function wholeSeconds(text: string): number {
  if (/^[0-9]{1,8}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Expected a whole number of seconds below 100,000,000.')
}

function futureTime(text: string): number {
  const time = /^\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:\d{2}))?$/.test(text) ? Date.parse(text) : Number.NaN
  if (time > Date.now()) return time
  throw new InvalidArgumentError('Expected a time in the future, e.g. 2030-12-31 or 2030-12-31T12:00:00Z.')
}
