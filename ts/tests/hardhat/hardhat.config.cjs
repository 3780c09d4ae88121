// A Hardhat project like those of users, with a running node as its network.
require('@nomicfoundation/hardhat-ethers')
const { version } = require('./solc.cjs')

const root = `${__dirname}/../../..`

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
