// Checks licences and sources of all dependencies against the lists in deny.toml. `cargo deny` does the same for crates and
// also knows advisories, but is slow to compile: only the release workflow runs it.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { outputOf } from './setup/run.mjs'

const cratesIo = 'registry+https://github.com/rust-lang/crates.io-index'
const npmLocks = ['package-lock.json', 'ts/tests/hardhat/package-lock.json']
const cargoManifests = ['Cargo.toml', 'bench/load/Cargo.toml']

/** Returns problems as lines. */
export function checkDependencies(root) {
  const allowed = allowedLicenses(readFileSync(join(root, 'deny.toml'), 'utf8'))
  return [
    ...cargoManifests.flatMap((path) => crateProblems(join(root, path), allowed)),
    ...npmLocks.flatMap((path) => npmProblems(path, readFileSync(join(root, path), 'utf8'), allowed)),
  ]
}

function crateProblems(manifest, allowed) {
  const parameters = ['metadata', '--locked', '--format-version', '1', '--manifest-path', manifest]
  const output = existsSync(manifest) ? outputOf('cargo', parameters, { maxBuffer: 2 ** 28 }) : undefined
  if (output === undefined) return [`${manifest}: cargo metadata failed`]
  return JSON.parse(output)
    .packages.filter(({ source }) => source !== null)
    .flatMap(({ name, version, license, source }) => [
      ...(source === cratesIo ? [] : [`crate ${name} ${version} comes from ${source}, not from crates.io`]),
      ...(isAllowed(license, allowed) ? [] : [`crate ${name} ${version}: deny.toml does not allow ${license}`]),
    ])
}

/** Returns problems of a lock file of npm: packages without a hash, from outside the registry, or with a licence that forbids shipping. */
export function npmProblems(path, text, allowed) {
  return Object.entries(JSON.parse(text).packages)
    .filter(([place]) => place !== '')
    .flatMap(([place, { version, integrity, license, dev, resolved }]) => {
      const problems = []
      if (!integrity?.startsWith('sha512-')) problems.push('has no SHA-512 in the lock file')
      if (resolved !== undefined && !/^https:\/\/registry\.npmjs\.org\//.test(resolved)) {
        problems.push(`comes from ${resolved}, not from npm's registry`)
      }
      // Development dependencies are not shipped.
      if (!dev && !isAllowed(license, allowed)) problems.push(`deny.toml does not allow ${license}`)
      return problems.map((problem) => `${path}: ${place} ${version}: ${problem}`)
    })
}

/** Returns the list `allow` of a deny.toml. */
export function allowedLicenses(text) {
  const list = /^allow = \[([^\]]*)\]/m.exec(text)?.[1] ?? ''
  return [...list.replaceAll(/#.*/g, '').matchAll(/"([^"]+)"/g)].map(([, name]) => name)
}

/** Returns whether allowed licences satisfy an SPDX expression. The `/` of older crates means OR. */
export function isAllowed(expression, allowed) {
  const tokens = (expression ?? '').replaceAll('/', ' OR ').match(/[()]|[^\s()]+/g) ?? []
  const term = () => {
    const token = tokens.shift()
    if (token === '(') {
      const value = either()
      tokens.shift()
      return value
    }
    if (tokens[0] !== 'WITH') return allowed.includes(token)
    tokens.shift()
    return allowed.includes(`${token} WITH ${tokens.shift()}`)
  }
  const both = () => {
    let value = term()
    while (tokens[0] === 'AND') {
      tokens.shift()
      value = term() && value
    }
    return value
  }
  const either = () => {
    let value = both()
    while (tokens[0] === 'OR') {
      tokens.shift()
      value = both() || value
    }
    return value
  }
  return either() && tokens.length === 0
}
