// The static checks that CI runs before the tests. Each returns its problems as lines.
import { checkDependencies } from './check-dependencies.mjs'
import { checkReferences } from './check-docs.mjs'
import { checkCircles, checkFloors } from './check-floors.mjs'
import { checkMethods } from './check-methods.mjs'
import { checkPins } from './check-pins.mjs'
import { checkProse } from './check-prose.mjs'
import { checkDocs } from './docs.mjs'
import { cargoEnvironment } from './setup/cargo.mjs'
import { run, SetupError } from './setup/run.mjs'

const node = process.execPath

/** The load generator of the benchmarks is a separate workspace. */
const loadGenerator = 'bench/load/Cargo.toml'

/** Returns name and function of each check, cheap checks first. */
export function checks(root) {
  const local = (tool, ...parameters) => run(node, [`node_modules/${tool}`, ...parameters], { cwd: root })
  const cargo = async (...parameters) => run('cargo', parameters, { cwd: root, env: await cargoEnvironment() })
  return [
    ['format and lint of TypeScript', () => local('@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.')],
    ['types of TypeScript', () => local('typescript/bin/tsc', '-p', '.')],
    ["types of the operator's page", () => local('typescript/bin/tsc', '-p', 'ts/src/admin/page')],
    ['types of the explorer', () => local('typescript/bin/tsc', '-p', 'ts/src/explorer/page')],
    ['files and symbols named in documents', () => report(checkReferences(root))],
    ['floors', () => report(checkFloors(root))],
    ['circles and names of types', () => report(checkCircles(root).problems)],
    ['prose', () => report(checkProse(root))],
    ['pins', () => report(checkPins(root))],
    ['licences and sources', () => report(checkDependencies(root))],
    ['methods', () => report(checkMethods(root))],
    ['documentation of the methods', async () => report(await checkDocs())],
    ['format of Rust', () => cargo('fmt', '--all', '--check')],
    ['format of the load generator', () => cargo('fmt', '--manifest-path', loadGenerator, '--check')],
    [
      'lint of Rust',
      () => cargo('clippy', '--release', '--workspace', '--all-targets', '--locked', '--', '-D', 'warnings'),
    ],
    [
      'lint and tests of the load generator',
      async () => {
        const place = ['--release', '--locked', '--manifest-path', loadGenerator, '--target-dir', 'target/load']
        await cargo('clippy', ...place, '--all-targets', '--', '-D', 'warnings')
        await cargo('test', '--quiet', ...place)
      },
    ],
  ]
}

function report(problems) {
  if (problems.length > 0) throw new SetupError(problems.join('\n'))
}
