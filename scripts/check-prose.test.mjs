import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { refusedIn } from './check-prose.mjs'
import { circles } from './floors/circles.mjs'
import { dependencies, modulesOf, typesOf } from './floors/rust.mjs'
import { proseOf } from './prose/comments.mjs'

describe('comments', () => {
  const lines = (path, source) => proseOf(path, source).map(({ line, text }) => [line, text])

  test('behavior: joins consecutive line comments of Rust and skips literals', () => {
    const source = [
      '/// First',
      '/// second',
      'let url = "http://x"; // after code',
      "let quote = '\"'; // third",
      'let raw = r#"// no comment"#;',
      '/* block */',
    ].join('\n')
    expect(lines('a.rs', source)).toEqual([
      [1, 'First\nsecond'],
      [3, 'after code'],
      [4, 'third'],
      [6, 'block '],
    ])
  })

  test('behavior: skips templates and regular expressions of TypeScript', () => {
    const source = [
      'const text = `// #{call(`/* #{1} */`)} no comment` // one'.replaceAll('#', '$'),
      'const expression = /[/*]\\/\\// // two',
      'const half = a / b // three',
      '/** four\n * five */',
    ].join('\n')
    expect(lines('a.ts', source)).toEqual([
      [1, 'one'],
      [2, 'two'],
      [3, 'three'],
      [4, 'four\nfive '],
    ])
  })

  test('behavior: skips fenced code of Markdown and quoted hashes of TOML', () => {
    expect(lines('a.md', 'Text\nmore\n\n```\ncode\n```\n* item')).toEqual([
      [1, 'Text\nmore'],
      [7, '* item'],
    ])
    expect(lines('a.toml', 'key = "# no" # yes\nother = 1\n# also')).toEqual([
      [1, 'yes'],
      [3, 'also'],
    ])
  })
})

describe('refused phrases', () => {
  const found = (text) => refusedIn('a.rs', `// ${text}`).map((problem) => /"(.*)" ->/.exec(problem)[1])

  test('behavior: finds a phrase across a line break, with its line', () => {
    expect(refusedIn('a.rs', 'fn a() {}\n// Returns\n// what is\n// kept.')[0]).toMatch(/^a\.rs:3: "what is" -> /)
    expect(refusedIn('a.rs', '// In the middle so\n// many of them')[0]).toMatch(/^a\.rs:1: "so many" -> /)
  })

  test('behavior: ignores code, quotes and parts of words', () => {
    expect(found('`who` and "nobody" and the whole, a showcase')).toEqual([])
    expect(found('requests in flight, a table cell')).toEqual([])
  })

  test('behavior: refuses a clause at the start of a sentence, not a question', () => {
    expect(found('What a caller sends. Next.')).toEqual(['What'])
    expect(found('What next?')).toEqual([])
  })

  test('behavior: finds conflict markers', () => {
    expect(refusedIn('a.json', '{\n<<<<<<< HEAD\n')).toEqual(['a.json:2: conflict marker of git'])
  })
})

describe('shape of crates', () => {
  const crate = (files) => {
    const folder = mkdtempSync(join(tmpdir(), 'rhizome-test-'))
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(folder, 'src', path, '..'), { recursive: true })
      writeFileSync(join(folder, 'src', path), text)
    }
    const modules = modulesOf(folder)
    const short = (path) => path.slice(join(folder, 'src').length + 1)
    const graph = new Map([...dependencies(modules)].map(([path, to]) => [short(path), new Set([...to].map(short))]))
    return { graph, types: typesOf(modules) }
  }

  test('behavior: resolves use trees, re-exports and inline paths', () => {
    const { graph } = crate({
      'lib.rs': 'mod a;\nmod b;\npub use a::{inner::Deep, Top};\n',
      'a.rs': 'pub mod inner;\npub struct Top;\nfn f() { inner::g() }\n',
      'a/inner.rs': 'pub struct Deep;\nuse super::Top;\n',
      'b.rs': 'use crate::{Deep, Top as Other};\n#[cfg(test)]\nmod tests { use crate::nothing; }\n',
    })
    expect(graph.get('b.rs')).toEqual(new Set(['a/inner.rs', 'a.rs']))
    expect(graph.get('a/inner.rs')).toEqual(new Set(['a.rs']))
    expect(circles(graph, 1)).toEqual([['a.rs', 'a/inner.rs']])
    expect(circles(graph, 2)).toEqual([])
  })

  test('behavior: lists types and impl blocks without tests', () => {
    const { types } = crate({
      'lib.rs':
        'pub struct One<T>(T);\nimpl<T> One<T> {}\nimpl<T: Into<u8>> From<T> for One<T> where T: Copy {}\n#[cfg(test)]\nstruct Two;\n',
    })
    expect(types.defined.map(({ name }) => name)).toEqual(['One'])
    expect(types.implemented.map(({ name }) => name)).toEqual(['One', 'One'])
  })
})
