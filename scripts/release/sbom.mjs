// The components of the packages, as CycloneDX. Read from the lock files, `cargo metadata` and package.json: no other tool
// has to be installed, and one format covers both ecosystems.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { outputOf, SetupError } from '../setup/run.mjs'

/** Returns the SBOM of the program: the npm packages in the bundle. */
export function programSbom(root, manifest) {
  return document(
    manifest.name,
    manifest,
    npmPackages(root)
      .filter(({ name }) => name !== 'uWebSockets.js')
      .map(npmComponent),
  )
}

/** Returns the SBOM of the addon's package: its crates. */
export function addonSbom(root, name, manifest) {
  return document(name, manifest, crates(root).map(crateComponent))
}

/**
 * Returns the SBOM of a package with one binary of the HTTP server, which the release workflow built from `source` or which is
 * in the npm package.
 */
export function serverSbom(root, name, manifest, file, { sha256, source }) {
  const { version, resolved } = npmPackages(root).find((one) => one.name === 'uWebSockets.js')
  const origin =
    source === undefined
      ? { version, purl: `pkg:npm/${resolved}@${version}` }
      : { version: source.tag, purl: `pkg:github/uNetworking/uWebSockets.js@${source.commit}` }
  const component = {
    type: 'library',
    name: 'uWebSockets.js',
    version: origin.version,
    purl: origin.purl,
    licenses: [{ license: { id: 'Apache-2.0' } }],
    hashes: [{ alg: 'SHA-256', content: sha256 }],
    description: `${file}; contains uSockets, BoringSSL and, in builds of the npm package ${resolved}, lsquic`,
  }
  return document(name, manifest, [component])
}

/** Returns the packages of package-lock.json in a running node, as `{name, resolved, version, license, integrity}`. */
export function npmPackages(root) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  return Object.entries(packages)
    .filter(([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional)
    .map(([path, { version, license, integrity, name }]) => {
      const place = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
      return { name: place, resolved: name ?? place, version, license, integrity }
    })
}

/** Crates that are linked into the addon or needed to build it, from `cargo metadata`. */
export function crates(root) {
  const target = /host: (\S+)/.exec(outputOf('rustc', ['-vV']) ?? '')?.[1]
  if (target === undefined) throw new SetupError('rustc -vV failed')
  const output = outputOf('cargo', ['metadata', '--locked', '--format-version', '1', '--filter-platform', target], {
    cwd: root,
    maxBuffer: 2 ** 28,
  })
  if (output === undefined) throw new SetupError('cargo metadata failed')
  const { packages, resolve } = JSON.parse(output)
  const nodes = new Map(resolve.nodes.map((node) => [node.id, node]))
  const wanted = new Set()
  const visit = (id) => {
    if (wanted.has(id)) return
    wanted.add(id)
    for (const { pkg, dep_kinds } of nodes.get(id).deps) if (dep_kinds.some(({ kind }) => kind !== 'dev')) visit(pkg)
  }
  visit(packages.find(({ name }) => name === 'rhizome-addon').id)
  const checksums = checksumsOf(readFileSync(join(root, 'Cargo.lock'), 'utf8'))
  return packages
    .filter(({ id, source }) => wanted.has(id) && source !== null)
    .map(({ name, version, license, source }) => ({
      name,
      version,
      license,
      source,
      sha256: checksums.get(`${name}@${version}`),
    }))
}

function checksumsOf(lock) {
  const entries = [...lock.matchAll(/name = "([^"]+)"\nversion = "([^"]+)"\nsource = "[^"]+"\nchecksum = "([^"]+)"/g)]
  return new Map(entries.map(([, name, version, checksum]) => [`${name}@${version}`, checksum]))
}

function npmComponent({ name, version, license, integrity }) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  const [algorithm, digest] = integrity.split('-')
  return {
    type: 'library',
    name,
    version,
    purl,
    licenses: [{ license: { id: license } }],
    hashes: [{ alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(digest, 'base64').toString('hex') }],
  }
}

function crateComponent({ name, version, license, sha256 }) {
  const purl = `pkg:cargo/${name}@${version}`
  return {
    type: 'library',
    name,
    version,
    purl,
    // Some crates write the older `/` for OR.
    licenses: [{ expression: license.replaceAll('/', ' OR ') }],
    hashes: [{ alg: 'SHA-256', content: sha256 }],
  }
}

function document(name, { version, license }, components) {
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': `pkg:npm/${name.replace('@', '%40')}@${version}`,
        name,
        version,
        licenses: [{ expression: license }],
      },
    },
    // Npm may install one version in several places. Each package URL is there once, so it needs no reference beside it.
    components: [...new Map(components.map((one) => [one.purl, one])).values()].sort((left, right) =>
      left.purl < right.purl ? -1 : 1,
    ),
  }
}
