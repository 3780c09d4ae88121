// A registry of packed packages on this machine: npm selects and installs from it as from the public registry.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { basename } from 'node:path'
import { outputOf, SetupError } from '../setup/run.mjs'

/** Serves `files` on a free port. Returns the URL, and a function that closes the server. */
export async function serveRegistry(files) {
  const packages = new Map(files.map((file) => [manifestOf(file).name, file]))
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url.slice(1))
    const file = files.find((one) => basename(one) === path)
    if (file !== undefined) response.end(readFileSync(file))
    else if (packages.has(path)) response.end(JSON.stringify(documentOf(packages.get(path), request.headers.host)))
    else response.writeHead(404).end('{}')
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Returns the document of a package with one version. */
function documentOf(file, host) {
  const manifest = manifestOf(file)
  const { name, version } = manifest
  const integrity = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`
  const dist = { tarball: `http://${host}/${basename(file)}`, integrity }
  return { name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } }
}

/** Returns the package.json in a packed package. */
export function manifestOf(file) {
  const text = outputOf('tar', ['xzOf', file, 'package/package.json'])
  if (text === undefined) throw new SetupError(`${file} is not a package`)
  return JSON.parse(text)
}
