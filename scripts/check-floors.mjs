// Which crate or folder may import which: down only, never sideways. A new edge has to be allowed here first.
// With --circles also the shape of files: circles, types spread over files, names used twice.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize, relative, sep } from 'node:path'
import { checkShape } from './floors/shape.mjs'
import { outputOf } from './setup/run.mjs'

const crates = {
  primitives: [],
  trie: ['primitives'],
  bitcoin: [],
  bridge: ['primitives', 'trie', 'bitcoin'],
  wire: ['primitives'],
  pow: ['primitives', 'bitcoin'],
  evm: ['primitives', 'trie', 'bitcoin', 'bridge'],
  storage: ['primitives', 'trie'],
  chain: ['primitives', 'trie', 'pow', 'evm', 'storage'],
  net: ['primitives', 'pow', 'wire', 'chain'],
  blobs: [],
  archives: ['primitives', 'trie', 'pow', 'blobs', 'chain'],
  checkpoints: ['primitives', 'trie', 'storage', 'blobs', 'chain'],
  rskj: ['primitives', 'chain'],
  fork: ['primitives', 'trie', 'evm', 'chain'],
  fleet: ['primitives', 'pow', 'chain'],
  answers: ['primitives', 'trie', 'evm', 'chain', 'net', 'blobs', 'archives', 'checkpoints', 'rskj', 'fork', 'fleet'],
  addon: ['primitives', 'evm', 'chain', 'checkpoints', 'net', 'fork', 'fleet', 'answers'],
  conformance: ['primitives', 'trie', 'bitcoin', 'pow', 'evm', 'chain', 'answers'],
}

/** External crates that only these crates of the workspace may name. */
const crateOwners = {
  revm: ['evm'],
  rocksdb: ['storage', 'rskj'],
  napi: ['addon'],
  'napi-derive': ['addon'],
  object_store: ['blobs'],
  tokio: ['net', 'blobs', 'fleet'],
  'async-nats': ['fleet'],
  reqwest: ['fork'],
}

const folders = {
  rpc: [],
  observe: [],
  config: ['rpc', 'observe'],
  native: ['rpc', 'observe'],
  redis: ['config'],
  filters: ['rpc', 'observe', 'config', 'native', 'redis'],
  subscriptions: ['rpc', 'observe', 'config', 'native'],
  auth: ['rpc', 'observe', 'config', 'native', 'redis'],
  methods: ['rpc', 'observe', 'config', 'native', 'filters', 'subscriptions', 'auth', 'keystore'],
  keystore: ['rpc'],
  verify: [],
  bridge: [],
  compare: [],
  http: ['rpc', 'observe', 'config', 'native', 'filters', 'auth'],
  ws: ['rpc', 'observe', 'config', 'native', 'filters', 'auth'],
  admin: ['observe', 'config', 'auth', 'http'],
  explorer: ['admin'],
}

/** Packages that only these folders may import. */
const packageOwners = {
  'uWebSockets.js': ['native', 'http', 'ws'],
  pino: ['observe'],
  'prom-client': ['observe'],
  'smol-toml': ['config'],
  commander: ['cli', ''],
  ethers: ['keystore', 'bridge', 'cli'],
  '@scure/btc-signer': ['bridge'],
  ioredis: ['redis'],
  jose: ['auth'],
}

/** Problems as lines, empty if there are none. */
export function checkFloors(root) {
  return [...checkCrates(root), ...checkTypeScript(join(root, 'ts/src'))]
}

/** `{ problems, notes }` of circles, spread types and repeated names, as lines. */
export function checkCircles(root) {
  const sources = join(root, 'ts/src')
  const graph = new Map(
    files(sources).map((path) => [
      path,
      new Set(
        importsOf(readFileSync(path, 'utf8'))
          .filter((target) => target.startsWith('.'))
          .map((target) => join(dirname(path), target)),
      ),
    ]),
  )
  return checkShape(root, graph)
}

function checkCrates(root) {
  const metadata = outputOf('cargo', ['metadata', '--no-deps', '--format-version', '1'], {
    cwd: root,
    maxBuffer: 2 ** 26,
  })
  if (metadata === undefined) return ['cargo metadata failed']
  const problems = []
  for (const { name, dependencies } of JSON.parse(metadata).packages) {
    const crate = name.replace(/^rhizome-/, '')
    const allowed = crates[crate]
    if (allowed === undefined) problems.push(`crate ${crate}: has no floor; add it to scripts/check-floors.mjs`)
    for (const { name: dependency, kind } of dependencies) {
      const inner = dependency.startsWith('rhizome-') ? dependency.slice('rhizome-'.length) : undefined
      // Tests may depend on every lower crate, but not on higher ones.
      const isAllowed = inner === undefined || allowed?.includes(inner) || (kind === 'dev' && isBelow(inner, crate))
      if (!isAllowed) problems.push(`crate ${crate}: may not depend on ${inner}`)
      const owners = crateOwners[dependency]
      if (owners !== undefined && !owners.includes(crate))
        problems.push(`crate ${crate}: ${dependency} may be named in ${owners.join(', ')} only`)
    }
  }
  return problems
}

function isBelow(inner, crate) {
  const order = Object.keys(crates)
  return order.indexOf(inner) < order.indexOf(crate)
}

function checkTypeScript(sources) {
  const problems = []
  for (const path of files(sources)) {
    const from = folderOf(sources, path)
    const name = relative(sources, path)
    for (const target of importsOf(readFileSync(path, 'utf8'))) {
      if (target.startsWith('.')) {
        const to = folderOf(sources, normalize(join(dirname(path), target)))
        // The files at the top and the commands wire everything together.
        const isAllowed = from === to || from === '' || from === 'cli' || folders[from]?.includes(to)
        if (!isAllowed) problems.push(`ts/src/${name}: ${from} may not import ${to === '' ? target : to}`)
      } else {
        const owners = packageOwners[target.replace(/^((?:@[^/]+\/)?[^/]+).*$/, '$1')]
        if (owners !== undefined && !owners.includes(from)) {
          problems.push(`ts/src/${name}: ${target} may be imported in ${owners.filter(Boolean).join(', ')} only`)
        }
      }
    }
  }
  return problems
}

function folderOf(sources, path) {
  const parts = relative(sources, path).split(sep)
  return parts.length === 1 ? '' : parts[0]
}

function importsOf(text) {
  return [...text.matchAll(/^(?:import|export)\b[^'"]*?from\s*['"]([^'"]+)['"]|^import\s*['"]([^'"]+)['"]/gm)].map(
    (match) => match[1] ?? match[2],
  )
}

function files(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    if (statSync(path).isDirectory()) return files(path)
    return path.endsWith('.ts') && !path.endsWith('.test.ts') ? [path] : []
  })
}

if (process.argv[1]?.endsWith('check-floors.mjs')) {
  const root = join(import.meta.dirname, '..')
  const problems = checkFloors(root)
  if (process.argv.includes('--circles')) {
    const shape = checkCircles(root)
    problems.push(...shape.problems)
    for (const note of shape.notes) process.stdout.write(`${note}\n`)
  }
  for (const problem of problems) process.stderr.write(`${problem}\n`)
  process.exitCode = problems.length > 0 ? 1 : 0
}
