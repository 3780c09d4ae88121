import { readFileSync } from 'node:fs'

export interface PageFile {
  readonly type: string
  readonly content: Buffer
}

/** Files of the page: path, name in the folder, media type. No other file is served. */
const files = [
  ['/', 'index.html', 'text/html; charset=utf-8'],
  ['/page.css', 'page.css', 'text/css; charset=utf-8'],
  ['/page.js', 'page.js', 'text/javascript; charset=utf-8'],
  ['/icon.svg', 'icon.svg', 'image/svg+xml'],
] as const

/** Reads the files of the operator's page, by path. They contain no secrets. */
export function readPage(folder: URL): ReadonlyMap<string, PageFile> {
  return new Map(files.map(([path, name, type]) => [path, { type, content: readFileSync(new URL(name, folder)) }]))
}
