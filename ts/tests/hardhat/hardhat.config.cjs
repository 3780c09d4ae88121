// A Hardhat project as users have one, with a node that runs already as its network.
require('@nomicfoundation/hardhat-ethers')
const { subtask } = require('hardhat/config')
const { TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD } = require('hardhat/builtin-tasks/task-names')

// The compiler of the other tests: Hardhat would load one from elsewhere.
const root = `${__dirname}/../../..`
const compiler = require.resolve('solc/soljson.js', { paths: [root] })
const longVersion = require(require.resolve('solc', { paths: [root] }))
  .version()
  .replace('.Emscripten.clang', '')
const version = longVersion.split('+')[0]
subtask(TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD, () => ({
  compilerPath: compiler,
  isSolcJs: true,
  version,
  longVersion,
}))

module.exports = {
  defaultNetwork: 'rhizome',
  networks: { rhizome: { url: process.env.RPC_URL, chainId: 33 } },
  solidity: { version, settings: { evmVersion: 'london', optimizer: { enabled: true } } },
  paths: {
    root,
    sources: `${root}/docs/examples`,
    tests: `${__dirname}/programs`,
    cache: `${process.env.HARDHAT_OUTPUT}/cache`,
    artifacts: `${process.env.HARDHAT_OUTPUT}/artifacts`,
  },
}
