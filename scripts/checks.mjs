// The checks of form that CI runs before the tests. Each returns the problems it found, as lines.
import { checkFloors } from './check-floors.mjs'
import { checkMethods } from './check-methods.mjs'
import { checkDocs } from './docs.mjs'
import { cargoEnvironment } from './setup/cargo.mjs'
import { run, SetupError } from './setup/run.mjs'

const node = process.execPath

/** Name and work of each check, cheap ones first. */
export function checks(root) {
  const local = (tool, ...parameters) => run(node, [`node_modules/${tool}`, ...parameters], { cwd: root })
  const cargo = async (...parameters) => run('cargo', parameters, { cwd: root, env: await cargoEnvironment() })
  return [
    ['format and lint of TypeScript', () => local('@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.')],
    ['types of TypeScript', () => local('typescript/bin/tsc', '-p', '.')],
    ["types of the operator's page", () => local('typescript/bin/tsc', '-p', 'ts/src/admin/page')],
    ['floors', () => report(checkFloors(root))],
    ['methods', () => report(checkMethods(root))],
    ['documentation of the methods', async () => report(await checkDocs())],
    ['format of Rust', () => cargo('fmt', '--all', '--check')],
    [
      'lint of Rust',
      () => cargo('clippy', '--release', '--workspace', '--all-targets', '--locked', '--', '-D', 'warnings'),
    ],
  ]
}

function report(problems) {
  if (problems.length > 0) throw new SetupError(problems.join('\n'))
}
