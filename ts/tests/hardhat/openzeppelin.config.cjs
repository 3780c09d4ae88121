// The configuration of a checkout of OpenZeppelin's contracts (OPENZEPPELIN), with a running node as its network
// and the compiler of the tested project.
const { createRequire } = require('node:module')
const root = process.env.OPENZEPPELIN
const theirs = createRequire(`${root}/package.json`)
const { extendProvider, subtask } = theirs('hardhat/config')
const { ProviderWrapper } = theirs('hardhat/plugins')
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

/** The most gas of one transaction in a block of regtest. */
const most = 6_800_000

/**
 * Leaves room above the estimates: fixtures send transactions at the same time, so that each is estimated without the others.
 * Hardhat's own network has a fixed limit instead, of which a block of regtest has room for one transaction only.
 */
class RoomyEstimates extends ProviderWrapper {
  async request(call) {
    const answer = await this._wrappedProvider.request(call)
    // Tests compare estimates of functions that only read with 30,000.
    if (call.method !== 'eth_estimateGas' || Number(answer) < 30_000) return answer
    return `0x${Math.min(4 * Number(answer), most).toString(16)}`
  }
}
extendProvider((provider) => new RoomyEstimates(provider))

module.exports = {
  ...project,
  defaultNetwork: 'tested',
  networks: { tested: { url: process.env.RPC_URL } },
  // A compiler more recent than the checkout has additional warnings.
  warnings: { '*': 'off' },
  paths: {
    ...project.paths,
    root,
    cache: `${process.env.HARDHAT_OUTPUT}/cache`,
    artifacts: `${process.env.HARDHAT_OUTPUT}/artifacts`,
  },
}
