// Binaries of uWebSockets.js and their requirements. Each is built for one release line of Node.js (it calls V8 directly)
// and for the glibc that it was linked with. Plain JavaScript, because set-up imports it before the build.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** Supported release lines of Node.js: the first version of each and the name of its ABI. */
export const nodeLines = [
  { line: 20, from: '20.19.0', abi: '115' },
  { line: 22, from: '22.12.0', abi: '127' },
  { line: 24, from: '24.0.0', abi: '137' },
]

/** Systems by their glibc: for the hint, and for the table in README.md. */
export const linuxSystems = [
  { name: 'RHEL 8', glibc: '2.28' },
  { name: 'Debian 11', glibc: '2.31' },
  { name: 'RHEL 9', glibc: '2.34' },
  { name: 'Ubuntu 22.04', glibc: '2.35' },
  { name: 'Debian 12', glibc: '2.36' },
  { name: 'Ubuntu 24.04', glibc: '2.39' },
  { name: 'RHEL 10', glibc: '2.39' },
  { name: 'Debian 13', glibc: '2.41' },
]

/** SHA-256 and minimum glibc of the binaries of the npm package `uwebsockets` 3.0.6, by platform and ABI. */
export const pinned = {
  'linux-x64': {
    115: { sha256: 'f4fa5d7b697529b45ac8aa3d57385d9af51bc1d2b26aa9f5b68ca4361542e665', glibc: '2.27' },
    127: { sha256: '78e38a9a163b1cf33ce539619e5908111dea95a12e7943d95fbcdd524879caa8', glibc: '2.38' },
    137: { sha256: '3b549c14e01d9d1faf234cdf4b6f0fb08158605e3692cd0eb1b905e327bd3449', glibc: '2.38' },
  },
  'linux-arm64': {
    115: { sha256: '034e0fcccdc08f90df3b130f421516311831b1352fe38eab91abc2984c2fdf3a', glibc: '2.27' },
    127: { sha256: 'a7d9bc3ec166421a49416d5ea4f49118ae68ea1dbf8a765c4f45a79b0b6adb13', glibc: '2.38' },
    137: { sha256: 'b6eb007d627e00bcce03ad38f197124e9027c03f6fe784b37f97b8a6ea709cb4', glibc: '2.38' },
  },
  'darwin-x64': {
    115: { sha256: '7552dc27e278be4a5f9ca4f571676e9046929ef8753b1bb63b84f78e1a752a11' },
    127: { sha256: '1bcd63a9cd5cda811d899b80f9b1f7c9f29d128feafebe6976069ab1045a0335' },
    137: { sha256: '7df6e0b2be43048200370a64ee91d6563879f5d3b0207f846dc81377ffc4e189' },
  },
  'darwin-arm64': {
    115: { sha256: 'f6132ac4d0954ce32ed716d5b367270904c5885bc6e01dcc8ae5809a8967d504' },
    127: { sha256: '84ab0c487fbbb895afbfa24c7ac02db5922b2eb468b3a4663aaca52af29b420c' },
    137: { sha256: 'dd7623e7e600dcc1384c4a639ac05849f0c27125be8c431b702e0513e86613f0' },
  },
  'win32-x64': {
    115: { sha256: '160eeb564c9e5887893f6b561fbcf39fecc6fbd6cacc86f461af67b3688d84fa' },
    127: { sha256: 'bf190a123983621f89f8ac667c354fd95f45b9b153095bdfe1167c50d1922746' },
    137: { sha256: 'ad2eff4924594a5dba3b451334f432bd526c33885960f8b68e85261b0ac4ff07' },
  },
}

/** Returns Node.js and system of this process. `glibc` is undefined on systems without it. */
export function thisSystem() {
  const platform = `${process.platform}-${process.arch}`
  const { node, modules: abi } = process.versions
  if (process.platform !== 'linux') return { node, abi, platform }
  // Looking up the names of open connections can take seconds.
  process.report.excludeNetwork = true
  return { node, abi, platform, glibc: process.report.getReport().header.glibcVersionRuntime }
}

export function fileName(platform, abi) {
  return `uws_${platform.replace('-', '_')}_${abi}.node`
}

/** Returns a sentence for an unsupported version of Node.js; undefined if it is supported. */
export function nodeProblem(node, lines = nodeLines) {
  if (nodeLines.some(({ line, from }) => isLine(node, line) && isAtLeast(node, from))) return undefined
  return `Node.js ${node} is not supported: use Node.js ${oneOf(lines.map(({ from }) => from.replace(/\.0$/, '')))} or a later version of the same line`
}

/**
 * Returns a sentence with reason and remedy if none of `binaries` (by ABI, of this platform) loads on this system;
 * undefined if one does.
 */
export function systemProblem(binaries, { node, abi, platform, glibc }) {
  if (binaries === undefined) {
    return `There is no HTTP server (uWebSockets.js) for ${platform}: use ${oneOf(Object.keys(pinned))}`
  }
  if (platform.startsWith('linux') && glibc === undefined) {
    return 'The HTTP server (uWebSockets.js) needs glibc, which this system does not have: use Debian, Ubuntu or Fedora, or the image of docs/deploy/Dockerfile'
  }
  const loads = (one) => binaries[one] !== undefined && isAtLeast(glibc ?? '', binaries[one].glibc ?? '')
  const lines = nodeLines.filter((one) => loads(one.abi))
  const problem = nodeProblem(node, lines)
  if (problem !== undefined || loads(abi)) return problem
  const other = lines.length === 0 ? '' : `use Node.js ${oneOf(lines.map(({ line }) => `${line}`))}`
  const line = Number.parseInt(node, 10)
  if (binaries[abi] === undefined)
    return `The HTTP server (uWebSockets.js) for Node.js ${line} is not in this package: ${other}`
  const newer = linuxSystems.filter((one) => isAtLeast(one.glibc, binaries[abi].glibc)).map(({ name }) => name)
  const system = `a system with glibc ${binaries[abi].glibc} or later (${newer.join(', ')})`
  return `The HTTP server (uWebSockets.js) for Node.js ${line} needs glibc ${binaries[abi].glibc} and this system has ${glibc}: ${other === '' ? 'use' : `${other}, or`} ${system}`
}

/** Returns a sentence if a file differs from the pinned one. */
export function hashProblem(path, { sha256 }) {
  const found = createHash('sha256').update(readFileSync(path)).digest('hex')
  if (found === sha256) return undefined
  return `${path} is not the file that this version was made with (SHA-256 ${found} instead of ${sha256}): install again`
}

/** Returns the minimum glibc of a Linux binary, from the versions of the symbols that it needs. */
export function neededGlibc(path) {
  const versions = [...readFileSync(path, 'latin1').matchAll(/\0GLIBC_(\d+\.\d+)(?=[.\0])/g)].map(
    ([, version]) => version,
  )
  return versions.reduce((least, version) => (isAtLeast(version, least) ? version : least), '2.0')
}

function isLine(version, line) {
  return Number.parseInt(version, 10) === line
}

/** Returns whether a version, `20.19.0` or `2.36`, is `wanted` or later. */
export function isAtLeast(version, wanted) {
  const [left, right] = [version, wanted].map((text) => text.split('.').map(Number))
  for (let index = 0; index < right.length; index++) {
    if ((left[index] ?? 0) !== right[index]) return (left[index] ?? 0) > right[index]
  }
  return true
}

function oneOf(names) {
  return names.length < 2 ? `${names[0]}` : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`
}
