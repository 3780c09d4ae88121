// node scripts/check-prose.mjs [PATH]...: refuses phrases of scripts/prose/refused.mjs in comments and Markdown.
import { existsSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { proseOf } from './prose/comments.mjs'
import { projectFiles } from './prose/files.mjs'
import { refused } from './prose/refused.mjs'

const rules = refused.map(({ pattern, instead, except = [] }) => ({
  // A sentence starts a block or follows a full stop, colon or list mark.
  expression: new RegExp(
    `(?<![\\w-])(?:${pattern.replaceAll('<start>', '(?<=^[\\s>*|#-]*|[.:;!?|] |\\n\\s*[*-] )').replaceAll(' ', '\\s+(?:[*|] )?')})(?![\\w-])`,
    'gi',
  ),
  instead,
  except,
}))

/** Problems as lines, `file:line: "phrase" -> advice`. `paths`: files and folders, all files of the project when empty. */
export function checkProse(root, paths = []) {
  return projectFiles(root, paths).flatMap((path) => checkFile(root, path))
}

function checkFile(root, path) {
  const full = join(root, path)
  // A deleted file stays in the index until the commit.
  return existsSync(full) ? refusedIn(path, readFileSync(full, 'utf8')) : []
}

/** Problems of one file as lines. */
export function refusedIn(path, source) {
  const conflict = source.split('\n').findIndex((line) => /^(<{7}|>{7}) /.test(line))
  const conflicts = conflict < 0 ? [] : [`${path}:${conflict + 1}: conflict marker of git`]
  const phrases = (proseOf(path, source) ?? []).flatMap(({ line, text }) => {
    const plain = withoutQuotes(text)
    return rules
      .filter(({ except }) => !except.some((prefix) => path.startsWith(prefix)))
      .flatMap(({ expression, instead }) =>
        [...plain.matchAll(expression)].map((match) => {
          const lineOfMatch = line + plain.slice(0, match.index).split('\n').length - 1
          return `${path}:${lineOfMatch}: "${match[0].replace(/\s+/g, ' ')}" -> ${instead}`
        }),
      )
  })
  return [...conflicts, ...phrases]
}

/** Code, quotes, tags and addresses of links replaced by as many lines. */
function withoutQuotes(text) {
  const blank = (found, mark) => mark + '\n'.repeat(found.split('\n').length - 1)
  return text
    .replace(/(`+)[^`]+?\1/g, (found) => blank(found, '``'))
    .replace(/"[^"]{1,300}"|“[^”]{1,300}”/g, (found) => blank(found, '""'))
    .replace(/\]\([^)\s]*\)/g, '] ')
    .replace(/<\/?[a-z][^>]*>|https?:\/\/\S+/gi, (found) => blank(found, ''))
}

if (process.argv[1]?.endsWith('check-prose.mjs')) {
  const root = join(import.meta.dirname, '..')
  const paths = process.argv.slice(2).map((path) => relative(root, resolve(path)) || '.')
  const problems = checkProse(root, paths)
  for (const problem of problems) process.stdout.write(`${problem}\n`)
  if (problems.length > 0) process.stderr.write(`${problems.length} phrases refused; see docs/contributing/prose.md\n`)
  process.exitCode = problems.length > 0 ? 1 : 0
}
