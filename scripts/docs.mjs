// npm run docs [-- --check]: writes docs/methods.md from the table of methods, or checks that it is up to date.
import { readFileSync, writeFileSync } from 'node:fs'
import { loadBundle } from './setup/bundle.mjs'
import { root, setup } from './setup.mjs'

const path = `${root}/docs/methods.md`

/** Returns problems as lines; empty if the page matches the table. */
export async function checkDocs() {
  return (await page()) === readFileSync(path, 'utf8') ? [] : ['docs/methods.md is out of date. Run: npm run docs']
}

async function page() {
  const { methodsPage } = await loadBundle(root, 'methods', 'ts/src/methods/markdown.ts')
  return methodsPage()
}

if (process.argv[1]?.endsWith('docs.mjs')) {
  await setup({ addon: false })
  if (process.argv.includes('--check')) {
    const problems = await checkDocs()
    for (const problem of problems) process.stderr.write(`${problem}\n`)
    process.exitCode = problems.length > 0 ? 1 : 0
  } else {
    writeFileSync(path, await page())
  }
}
