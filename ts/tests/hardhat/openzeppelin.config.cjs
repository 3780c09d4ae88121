// The configuration of a checkout of OpenZeppelin's contracts (OPENZEPPELIN), with a running node as its network
// and the compiler of the tested project.
const { createRequire } = require('node:module')
const root = process.env.OPENZEPPELIN
const theirs = createRequire(`${root}/package.json`)
const { subtask } = theirs('hardhat/config')
const { TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD } = theirs('hardhat/builtin-tasks/task-names')

const paths = [`${__dirname}/../../..`]
const compilerPath = require.resolve('solc/soljson.js', { paths })
const longVersion = require(require.resolve('solc', { paths })).version().replace('.Emscripten.clang', '')
const version = longVersion.split('+')[0]

process.env.COMPILER = version
// The latest version whose instructions Rootstock supports.
process.env.EVM = 'cancun'
const project = theirs('./hardhat.config.js')
subtask(TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD, () => ({ compilerPath, isSolcJs: true, version, longVersion }))

module.exports = {
  ...project,
  // The plugin for ethers takes a fixed limit of gas for networks with this name only. Hardhat's own network has one: fixtures
  // send transactions at the same time whose estimates exclude each other. This is the most that a block of regtest takes.
  defaultNetwork: 'localhost',
  networks: { localhost: { url: process.env.RPC_URL, gas: 6_800_000 } },
  // A compiler more recent than the checkout has additional warnings.
  warnings: { '*': 'off' },
  paths: {
    ...project.paths,
    root,
    cache: `${process.env.HARDHAT_OUTPUT}/cache`,
    artifacts: `${process.env.HARDHAT_OUTPUT}/artifacts`,
  },
}
