import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { scratchFolder } from '../../tests/node.ts'
import {
  fileName,
  hashProblem,
  linuxSystems,
  neededGlibc,
  nodeLines,
  nodeProblem,
  pinned,
  systemProblem,
} from './binaries.mjs'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const packages = join(root, 'node_modules/uWebSockets.js')
const every = Object.entries(pinned).flatMap(([platform, binaries]) =>
  Object.entries(binaries).map(([abi, binary]) => ({ platform, abi, binary })),
)
const debian12 = { platform: 'linux-x64', glibc: '2.36' }

test.each(every)('behavior: $platform, ABI $abi: the installed file is the pinned one', ({ platform, abi, binary }) => {
  const path = join(packages, fileName(platform, abi))
  expect(hashProblem(path, binary)).toBeUndefined()
  if (platform.startsWith('linux')) expect(neededGlibc(path)).toBe(binary.glibc)
})

test('behavior: each platform has a binary for each line of Node.js', () => {
  for (const binaries of Object.values(pinned)) expect(Object.keys(binaries)).toEqual(nodeLines.map(({ abi }) => abi))
})

test('error: a file that differs from the pinned one', () => {
  const path = join(scratchFolder(), 'uws.node')
  writeFileSync(path, 'other')
  expect(hashProblem(path, { sha256: '00' })).toMatch(
    /uws.node is not the file .* \(SHA-256 [0-9a-f]{64} instead of 00\): install again$/,
  )
})

const hint = 'a system with glibc 2.38 or later (Ubuntu 24.04, RHEL 10, Debian 13)'
test.each([
  [{ node: '20.19.0', abi: '115', ...debian12 }, undefined],
  [{ node: '24.1.0', abi: '137', platform: 'linux-arm64', glibc: '2.39' }, undefined],
  [{ node: '22.20.0', abi: '127', platform: 'darwin-arm64' }, undefined],
  [{ node: '24.0.0', abi: '137', platform: 'win32-x64' }, undefined],
  [
    { node: '22.20.0', abi: '127', ...debian12 },
    `The HTTP server (uWebSockets.js) for Node.js 22 needs glibc 2.38 and this system has 2.36: use Node.js 20, or ${hint}`,
  ],
  [
    { node: '22.20.0', abi: '127', platform: 'linux-x64', glibc: '2.17' },
    `The HTTP server (uWebSockets.js) for Node.js 22 needs glibc 2.38 and this system has 2.17: use ${hint}`,
  ],
  [
    { node: '26.1.0', abi: '147', ...debian12 },
    'Node.js 26.1.0 is not supported: use Node.js 20.19 or a later version of the same line',
  ],
  [
    { node: '20.18.3', abi: '115', platform: 'linux-x64', glibc: '2.39' },
    'Node.js 20.18.3 is not supported: use Node.js 20.19, 22.12 or 24.0 or a later version of the same line',
  ],
  [
    { node: '24.1.0', abi: '137', platform: 'linux-x64', glibc: undefined },
    'The HTTP server (uWebSockets.js) needs glibc, which this system does not have: use Debian, Ubuntu or Fedora, or the image of docs/deploy/Dockerfile',
  ],
  [
    { node: '24.1.0', abi: '137', platform: 'linux-riscv64', glibc: '2.39' },
    'There is no HTTP server (uWebSockets.js) for linux-riscv64: use linux-x64, linux-arm64, darwin-x64, darwin-arm64 or win32-x64',
  ],
])('behavior: %j', (system, expected) => {
  expect(systemProblem(pinned[system.platform], system)).toBe(expected)
})

test('error: a package that was packed for another line of Node.js', () => {
  const binaries = { 115: { sha256: '', glibc: '2.27' } }
  expect(systemProblem(binaries, { node: '22.20.0', abi: '127', ...debian12 })).toBe(
    'The HTTP server (uWebSockets.js) for Node.js 22 is not in this package: use Node.js 20',
  )
})

test('behavior: packages and pages name the versions of Node.js of the table', () => {
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } }
  expect(engines.node).toBe(nodeLines.map(({ from }) => `^${from}`).join(' || '))
  const images = [...read('docs/deploy/Dockerfile').matchAll(/^FROM node:(\S+?)-/gm)].map(
    ([, version]) => version ?? '',
  )
  expect(images).toHaveLength(1)
  for (const version of images) expect(nodeProblem(version)).toBeUndefined()
  expect(read('.github/workflows/release.yml')).toContain(`node: [${nodeLines.map(({ line }) => line).join(', ')}]`)
})

test('behavior: README.md has every supported pair', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const linesWith = (glibc: string) =>
    nodeLines.filter(({ abi, line }) => {
      const problem = systemProblem(pinned['linux-x64'], { node: `${line}.99.0`, abi, platform: 'linux-x64', glibc })
      return problem === undefined
    })
  for (const { name, glibc } of linuxSystems) {
    const lines = linesWith(glibc).map(({ line }) => line)
    expect(readme).toContain(`| ${name} (glibc ${glibc}) | ${lines.join(', ')} | 20, 22, 24 |`)
  }
  expect(existsSync(join(root, 'docs/security.md'))).toBe(true)
})
