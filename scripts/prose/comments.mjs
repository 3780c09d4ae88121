// Comments of source files and text of Markdown, as blocks of consecutive lines.

/**
 * Blocks of prose in a file: `{ line, text }` with the number of the first line. Consecutive line comments are one block, so
 * that a phrase is found across a line break. Returns undefined for a kind of file that has no prose.
 */
export function proseOf(path, source) {
  const name = path.replace(/^.*\//, '')
  if (name.endsWith('.md')) return markdown(source)
  if (name.endsWith('.rs')) return joined(scan(source, { isRust: true }))
  if (/\.(ts|mts|cts|mjs|cjs|js)$/.test(name)) return joined(scan(source, { isRust: false }))
  if (
    /\.(toml|ya?ml|sh|service)$/.test(name) ||
    /^(Dockerfile|run|\.gitignore|\.gitattributes|\.editorconfig)/.test(name)
  ) {
    return joined(hashComments(source))
  }
  return undefined
}

/** Paragraphs without fenced code. */
function markdown(source) {
  const lines = []
  let fence
  for (const [index, line] of source.split('\n').entries()) {
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1]
    if (mark !== undefined && (fence === undefined || mark.startsWith(fence)))
      fence = fence === undefined ? mark : undefined
    else if (fence === undefined && line.trim() !== '')
      lines.push({ line: index + 1, text: line, isStart: /^\s*(\||#|[*-] |\d+\. )/.test(line) })
  }
  return joined(lines)
}

/** One block of lines that follow each other. */
function joined(lines) {
  const blocks = []
  for (const { line, text, isStart } of lines) {
    const last = blocks.at(-1)
    if (last !== undefined && !isStart && last.line + last.text.split('\n').length === line) last.text += `\n${text}`
    else blocks.push({ line, text })
  }
  return blocks
}

/** `#` comments outside of quoted text. */
function hashComments(source) {
  const found = []
  for (const [index, line] of source.split('\n').entries()) {
    const comment = /^(?:[^'"#]|'[^']*'|"(?:[^"\\]|\\.)*")*?(?:^|\s)#+ ?(.*)$/.exec(line)?.[1]
    if (comment !== undefined && !comment.startsWith('!'))
      found.push({ line: index + 1, text: comment, isStart: !/^\s*#/.test(line) })
  }
  return found
}

/** `//` and block comments, line by line. Text in quotes, templates and regular expressions is skipped. */
function scan(source, { isRust }) {
  const found = []
  /** For templates: the depth of braces at which each one continues. */
  const templates = []
  let depth = 0
  let at = 0
  let line = 1
  let hasCode = false
  /** The last character of code: tells a regular expression from a division. */
  let last = ''
  const skip = (to) => {
    for (; at < to && at < source.length; at++) if (source[at] === '\n') line++
  }
  const matchAt = (pattern) => {
    pattern.lastIndex = at
    return pattern.exec(source)?.[0]
  }
  const template = () => {
    skip(at + matchAt(/(?:[^`\\$]|\\[\s\S]|\$(?!\{))*/y).length)
    if (source.startsWith('${', at)) {
      templates.push(depth)
      skip(at + 2)
    } else skip(at + 1)
  }
  while (at < source.length) {
    const character = source[at]
    if (character === '\n') {
      hasCode = false
      skip(at + 1)
    } else if (source.startsWith('//', at)) {
      const text = matchAt(/[^\n]*/y)
      found.push({ line, text: text.replace(/^\/\/[/!]? ?/, ''), isStart: hasCode })
      skip(at + text.length)
    } else if (source.startsWith('/*', at)) {
      const end = source.indexOf('*/', at + 2)
      const text = source.slice(at, end < 0 ? source.length : end)
      for (const [index, one] of text.split('\n').entries()) {
        const plain = one.replace(index === 0 ? /^\/\*[*!]? ?/ : /^\s*\*? ?/, '')
        if (plain.trim() !== '') found.push({ line: line + index, text: plain, isStart: index === 0 })
      }
      skip(end < 0 ? source.length : end + 2)
    } else {
      const literal = isRust
        ? matchAt(/b?r(#*)"[\s\S]*?"\1|b?"(?:[^"\\]|\\[\s\S])*"|b?'(?:[^'\\\n]|\\[^\n]*?)'(?!\w)/y)
        : matchAt(/'(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*"/y)
      const expression =
        isRust || character !== '/' || /[\w)\]}]/.test(last)
          ? undefined
          : matchAt(/\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y)
      hasCode ||= /\S/.test(character)
      if (literal !== undefined && literal !== '') {
        skip(at + literal.length)
        last = 'x'
      } else if (expression !== undefined) {
        skip(at + expression.length)
        last = 'x'
      } else if (!isRust && character === '`') {
        skip(at + 1)
        template()
        last = 'x'
      } else if (!isRust && character === '}' && templates.at(-1) === depth) {
        templates.pop()
        skip(at + 1)
        template()
        last = 'x'
      } else if (/\w/.test(character)) {
        const word = matchAt(/\w+/y)
        // A regular expression may follow these.
        last = /^(return|case|typeof|await|of|in)$/.test(word) ? '' : 'x'
        skip(at + word.length)
      } else {
        if (character === '{') depth++
        if (character === '}') depth--
        if (/\S/.test(character)) last = character
        skip(at + 1)
      }
    }
  }
  return found
}
