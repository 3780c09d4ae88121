import { readFileSync } from 'node:fs'

export interface PageFile {
  readonly type: string
  readonly content: Buffer
}

/** What the page consists of: its path, its name in the folder, its type. No other file is ever served. */
const files = [
  ['/', 'index.html', 'text/html; charset=utf-8'],
  ['/page.css', 'page.css', 'text/css; charset=utf-8'],
  ['/page.js', 'page.js', 'text/javascript; charset=utf-8'],
  ['/icon.svg', 'icon.svg', 'image/svg+xml'],
] as const

/** The files of the operator's page by their paths, read once. They hold nothing secret. */
export function readPage(folder: URL): ReadonlyMap<string, PageFile> {
  return new Map(files.map(([path, name, type]) => [path, { type, content: readFileSync(new URL(name, folder)) }]))
}
