import { Command, InvalidArgumentError } from 'commander'
import { type App, appNamed, createApp, revokeApp, rotateKey } from '../auth/app.ts'
import { FileStore } from '../auth/fileStore.ts'
import { keyUrls, shownApp } from '../auth/shown.ts'
import type { AppStore } from '../auth/store.ts'
import { ConfigError } from '../config/error.ts'
import { appsFileOf } from '../config/network.ts'
import type { Config } from '../config/schema.ts'
import { urlOf } from '../http/url.ts'
import { addChainOptions, configFrom, type Parsed } from './options.ts'

type Options = Parsed & {
  json?: boolean
  description?: string
  useCase?: string
  expires?: number
  keep?: number
}

/** API keys: a running node follows within a second, without being told. */
export function keysCommand(): Command {
  const keys = new Command('keys').description('Create, list, show, rotate and revoke API keys')
  keys.addCommand(
    withExpiry(subcommand('create', 'Register an app and print its key, which is shown this once'))
      .argument('<name>', 'unique; letters, digits, dot, dash and underscore', appName)
      .option('--description <text>', 'what the app is', freeText)
      .option('--use-case <text>', 'e.g. DeFi, analytics, gaming, wallet', freeText)
      .action(create),
  )
  keys.addCommand(subcommand('list', 'List all apps').action(list))
  keys.addCommand(subcommand('show', 'Show one app').argument('<name>', 'the app', appName).action(show))
  keys.addCommand(
    withExpiry(subcommand('rotate', 'Give an app another key and print it'))
      .argument('<name>', 'the app', appName)
      .option('--keep <seconds>', 'how long the key before stays good (default: 0)', wholeSeconds)
      .action(rotate),
  )
  keys.addCommand(
    subcommand('revoke', 'End an app and its keys for good').argument('<name>', 'the app', appName).action(revoke),
  )
  return keys
}

function subcommand(name: string, description: string): Command {
  return addChainOptions(new Command(name).description(description)).option('--json', 'print JSON')
}

function withExpiry(command: Command): Command {
  return command.option('--expires <time>', 'when the key ends, e.g. 2030-12-31 or 2030-12-31T12:00:00Z', futureTime)
}

async function create(name: string, options: Options): Promise<void> {
  const { config, store } = opened(options)
  const { description = '', useCase = '', expires = null } = options
  const given = { name, description, useCase, network: config.network, expiresAt: expires }
  const { apps, key } = await store.change((before) => createApp(before, given, Date.now()))
  printKey(config, appNamed(apps, name), key, options)
}

async function rotate(name: string, options: Options): Promise<void> {
  const { config, store } = opened(options)
  const terms = { keepMs: (options.keep ?? 0) * 1000, expiresAt: options.expires ?? null }
  const { apps, key } = await store.change((before) => rotateKey(before, name, terms, Date.now()))
  printKey(config, appNamed(apps, name), key, options)
}

async function revoke(name: string, options: Options): Promise<void> {
  const { store } = opened(options)
  const { apps } = await store.change((before) => ({ apps: revokeApp(before, name, Date.now()) }))
  print(shownApp(appNamed(apps, name), Date.now()), options)
}

async function show(name: string, options: Options): Promise<void> {
  print(shownApp(appNamed(await opened(options).store.read(), name), Date.now()), options)
}

async function list(options: Options): Promise<void> {
  const apps = (await opened(options).store.read()).map((app) => shownApp(app, Date.now()))
  if (options.json === true) process.stdout.write(`${JSON.stringify(apps)}\n`)
  for (const { name, network, state, useCase } of options.json === true ? [] : apps) {
    process.stdout.write(`${name.padEnd(24)} ${network.padEnd(8)} ${state.padEnd(8)} ${useCase}\n`)
  }
}

function opened(options: Options): { config: Config; store: AppStore } {
  const config = configFrom(options)
  const path = appsFileOf(config)
  if (path === null) throw new ConfigError(['auth.file: keys of a node that keeps nothing need a file'])
  return { config, store: new FileStore(path) }
}

function printKey(config: Config, app: App, key: string, options: Options): void {
  const { http, auth } = config
  const urls = keyUrls(
    auth.url === '' ? urlOf(http.host, http.port, http.tlsCert === '' ? 'http' : 'https') : auth.url,
    key,
  )
  print({ ...shownApp(app, Date.now()), key, urls }, options)
}

function print(value: object, { json }: Options): void {
  if (json === true) {
    process.stdout.write(`${JSON.stringify(value)}\n`)
    return
  }
  for (const [name, part] of Object.entries(value)) {
    const lines =
      name === 'urls' ? Object.values(part as object) : [typeof part === 'string' ? part : JSON.stringify(part)]
    for (const [index, line] of lines.entries())
      process.stdout.write(`${(index === 0 ? name : '').padEnd(14)} ${line}\n`)
  }
}

function appName(text: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text)) return text
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
  throw new InvalidArgumentError('Expected a time that is still to come, e.g. 2030-12-31 or 2030-12-31T12:00:00Z.')
}
