// node scripts/check-docs.mjs: checks that files, symbols and links named in documents exist.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { outputOf } from './setup/run.mjs'

/** Documents whose code spans must name existing files and symbols. */
const checked = ['docs/architecture.md', 'docs/glossary.md', 'docs/design/', 'docs/contributing/']
/** Documents with made-up names, and parts of other documents, whose links are relative to those. */
const exempt = ['docs/contributing/prose.md', 'docs/contributing/add-a-method.md', 'bench/report/']
/** Folders that paths in documents may be relative to. */
const bases = ['', 'crates/', 'ts/src/', 'crates/answers/src/', 'scripts/', 'scripts/release/']
const sources = /\.(rs|ts|mjs|mts|toml|json|c|yaml)$/

/** Problems as lines, `file: name does not exist`, empty if there are none. */
export function checkReferences(root) {
  const listed = outputOf('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    maxBuffer: 2 ** 26,
  })
  if (listed === undefined) return ['git ls-files failed']
  const files = listed.split('\n').filter((path) => path !== '' && existsSync(join(root, path)))
  const names = new Set(files.map((path) => path.replace(/^.*\//, '')))
  const texts = new Map()
  const read = (path) => {
    if (!texts.has(path)) texts.set(path, readFileSync(join(root, path), 'utf8'))
    return texts.get(path)
  }
  let words
  const isWord = (name) => {
    words ??= new Set(
      files
        .filter((path) => sources.test(path) && !path.startsWith('tests/'))
        .flatMap((path) => read(path).match(/\w+/g) ?? []),
    )
    return words.has(name)
  }
  const documents = files.filter(
    (path) => path.endsWith('.md') && ![...exempt, 'tests/'].some((prefix) => path.startsWith(prefix)),
  )
  return documents.flatMap((path) => {
    const text = read(path).replace(/^```[\s\S]*?^```/gm, '')
    const problems = linkProblems(root, path, text, read)
    if (checked.some((prefix) => path.startsWith(prefix))) {
      for (const [, span] of text.matchAll(/`([^`\n]+)`/g)) {
        const missing = missingIn(span, { files, names, read, isWord })
        if (missing !== undefined) problems.push(`${path}: ${missing} does not exist`)
      }
    }
    return problems
  })
}

/** The part of a code span that does not exist; undefined if all of it does, or if it names neither file nor symbol. */
function missingIn(span, { files, names, read, isWord }) {
  const [, path, symbols] =
    /^([\w./*-]+?\.(?:rs|ts|mjs|md|json|toml|c|yaml)|[\w.-]+(?:\/[\w.*-]+)+\/?|[\w-]+\/)(?:: (.+))?$/.exec(span) ?? []
  if (path !== undefined && /[a-z]/.test(path) && !/[A-Z]{3,}|\.\.\.|^application\//.test(path)) {
    const pattern = (base) =>
      new RegExp(
        `^${(base + path).replace(/[.+]/g, '\\$&').replaceAll('*', '[^/]*')}${path.endsWith('/') ? '' : '(/|$)'}`,
      )
    const found = bases.flatMap((base) => files.filter((file) => pattern(base).test(file)))
    const isFound =
      found.length > 0 ||
      (!path.includes('/') && names.has(path)) ||
      path.includes('src/native/rhizome.node') ||
      path.startsWith('ts/dist') ||
      path.startsWith('target/')
    if (!isFound) return path
    const text = (found.length > 0 ? found : files.filter((file) => file.endsWith(`/${path}`))).map(read).join('\n')
    return symbols?.split(/,\s*/).find((symbol) => !new RegExp(`\\b${symbol.split('::').at(-1)}\\b`).test(text))
  }
  const symbol = /^[A-Za-z_]\w*(?:::\w+)*(?=$|\()/.exec(span)?.[0]
  const isSymbol =
    symbol !== undefined && (/::|_/.test(symbol) || /[a-z][A-Z]/.test(symbol)) && !/^[A-Z_]+$/.test(symbol)
  return isSymbol ? symbol.split('::').find((part) => !isWord(part)) : undefined
}

/** Relative links whose file or heading does not exist. */
function linkProblems(root, path, text, read) {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target]) => {
    if (/^[a-z]+:/.test(target)) return []
    const [file, anchor] = target.split('#')
    const full = file === '' ? path : normalize(join(dirname(path), file))
    if (!existsSync(join(root, full))) return [`${path}: ${target} does not exist`]
    if (anchor === undefined || !full.endsWith('.md')) return []
    const anchors = [...read(full).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
      heading
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    )
    return anchors.includes(anchor) ? [] : [`${path}: ${target}: no such heading`]
  })
}

if (process.argv[1]?.endsWith('check-docs.mjs')) {
  const problems = checkReferences(join(import.meta.dirname, '..'))
  for (const problem of problems) process.stderr.write(`${problem}\n`)
  process.exitCode = problems.length > 0 ? 1 : 0
}
