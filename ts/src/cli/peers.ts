import { Command } from 'commander'
import type { PeerList, PeerView } from '../admin/shapes.ts'
import { AdminClient } from './adminClient.ts'
import { configFrom, type Parsed } from './options.ts'
import { wholeNumber } from './wholeNumber.ts'

interface Options extends Parsed {
  readonly json?: boolean
  readonly for?: number
}

/** Digits of a node id in the list. Ids may be cut to a unique beginning in arguments. */
const shownDigits = 16

/** Commands for the peers of a running node, over its admin API. */
export function peersCommand(): Command {
  const peers = new Command('peers').description(
    'List, add, ban and remove peers of a running node (started with --admin)',
  )
  peers.addCommand(subcommand('list', 'List peers and bans').action(list), { isDefault: true })
  peers.addCommand(
    subcommand('add', 'Dial a node until the node stops').argument('<enode>', 'enode://ID@HOST:PORT').action(add),
  )
  peers.addCommand(
    subcommand('remove', 'Disconnect a peer and do not dial it any more')
      .argument('<peer>', 'node id, its beginning, or enode URL')
      .action(remove),
  )
  peers.addCommand(
    subcommand('ban', 'Ban a node or addresses and close their connections')
      .argument('<target>', 'node id, its beginning, enode URL, address, or addresses like 203.0.113.0/24')
      .option('--for <seconds>', 'length of the ban (default: no end)', wholeNumber)
      .action(ban),
  )
  peers.addCommand(
    subcommand('unban', 'Lift a ban').argument('<target>', 'node id, its beginning, or addresses').action(unban),
  )
  return peers
}

function subcommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .option('--config <file>', 'configuration file of the node')
    .option('--admin-port <port>', "port of the operator's page (default: 4447)")
    .option('--json', 'print JSON')
}

async function list(options: Options): Promise<void> {
  const found = await clientOf(options).ask<PeerList>('GET', '/api/peers')
  if (options.json === true) print(found)
  else for (const line of linesOf(found)) process.stdout.write(`${line}\n`)
}

async function add(enode: string, options: Options): Promise<void> {
  report(options, await clientOf(options).ask('POST', '/api/peers', { enode }), `${enode} is dialled from now on`)
}

async function remove(peer: string, options: Options): Promise<void> {
  const client = clientOf(options)
  const id = await completeId(client, idIn(peer))
  report(options, await client.ask('DELETE', `/api/peers/${encodeURIComponent(id)}`), `${id} is removed`)
}

async function ban(text: string, options: Options): Promise<void> {
  const client = clientOf(options)
  const target = await completeId(client, idIn(text))
  const seconds = options.for ?? null
  const length = seconds === null ? 'without end' : `for ${seconds} s`
  report(options, await client.ask('POST', '/api/bans', { target, seconds }), `${target} is banned ${length}`)
}

async function unban(text: string, options: Options): Promise<void> {
  const client = clientOf(options)
  const target = await completeId(client, idIn(text))
  report(options, await client.ask('DELETE', `/api/bans/${encodeURIComponent(target)}`), `${target} is admitted`)
}

function clientOf(options: Options): AdminClient {
  const { config, adminPort } = options
  return new AdminClient(
    configFrom({ ...(config !== undefined && { config }), ...(adminPort !== undefined && { adminPort }) }),
  )
}

/** Returns the id in an enode URL; other texts as they are. */
function idIn(text: string): string {
  return /^enode:\/\/([0-9a-fA-F]+)@/.exec(text)?.[1] ?? text
}

/** Completes the beginning of a node id among peers and bans. Throws if several begin with it. */
async function completeId(client: AdminClient, text: string): Promise<string> {
  if (!/^[0-9a-f]{8,127}$/i.test(text)) return text
  const { peers, dialled, bans } = await client.ask<PeerList>('GET', '/api/peers')
  const known = [...peers.map(({ id }) => id), ...dialled.map(idIn), ...bans.map(({ target }) => target)]
  const found = [...new Set(known)].filter((id) => id.startsWith(text.toLowerCase()))
  if (found.length > 1) throw new Error(`${text}: ${found.length} nodes begin with it`)
  if (found[0] === undefined) throw new Error(`${text}: no peer and no ban begins with it`)
  return found[0]
}

function report({ json }: Options, answer: object, text: string): void {
  if (json === true) print(answer)
  else process.stdout.write(`${text}\n`)
}

function print(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}

/** Returns the lines of the list: peers, dialled nodes without a connection, bans, the URL of this node. */
function linesOf({ enode, peers, dialled, bans }: PeerList): string[] {
  const connected = new Set(peers.map(({ id }) => id))
  const waiting = dialled.filter((url) => !connected.has(idIn(url)))
  const rows = [['NODE', '', 'HEAD', 'SCORE', 'SECONDS', 'ADDRESS', 'PROGRAM'], ...peers.map(cellsOf)]
  return [
    ...(peers.length === 0 ? ['no peers'] : aligned(rows)),
    ...waiting.map((url) => `dialled, not connected: ${url}`),
    ...bans.map(({ target, until }) => `banned: ${target}${until === null ? '' : ` until ${until}`}`),
    ...(enode === null ? [] : [`this node: ${enode}`]),
  ]
}

function cellsOf({ id, direction, isStatic, head, score, connectedSeconds, address, client }: PeerView): string[] {
  const side = `${direction}${isStatic ? ', named' : ''}`
  const number = head?.number ?? null
  return [
    id.slice(0, shownDigits),
    side,
    number === null ? '?' : String(number),
    String(score),
    String(connectedSeconds),
    address,
    client,
  ]
}

/** Pads the entries of each column to the same width. */
function aligned(rows: readonly string[][]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
