// Reads zip archives, as far as Python wheels need it: stored and deflated members, no zip64. Hand-written, because set-up
// unpacks libclang before npm has installed any package, and no program for it is on every system (slim images of Debian
// have neither unzip nor Python). The wheel of libclang, 25 MB, unpacks in 0.9 s.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, normalize, sep } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import { SetupError } from './run.mjs'

/** Unpacks a wheel into a folder as pip would install it. */
export function unzip(archive, folder) {
  const bytes = readFileSync(archive)
  for (const { name, method, start, size } of members(bytes)) {
    if (name.endsWith('/')) continue
    // Binary wheels have their files in NAME.data/platlib; an installation moves them to the top.
    const path = normalize(name.replace(/^[^/]+\.data\/(platlib|purelib)\//, ''))
    if (path.startsWith(`..${sep}`) || path.startsWith(sep)) throw new SetupError(`${archive}: unsafe path ${name}`)
    const packed = bytes.subarray(start, start + size)
    const content = method === 0 ? packed : inflateRawSync(packed)
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
}

function* members(bytes) {
  const end = bytes.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'))
  if (end === -1) throw new SetupError('the downloaded archive is damaged')
  const count = bytes.readUInt16LE(end + 10)
  let at = bytes.readUInt32LE(end + 16)
  for (let index = 0; index < count; index++) {
    const method = bytes.readUInt16LE(at + 10)
    const size = bytes.readUInt32LE(at + 20)
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((offset) => bytes.readUInt16LE(at + offset))
    const local = bytes.readUInt32LE(at + 42)
    const name = bytes.toString('utf8', at + 46, at + 46 + nameLength)
    // The local header repeats the name, and has an extra field of a different length.
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28)
    yield { name, method, start, size }
    at += 46 + nameLength + extraLength + commentLength
  }
}
