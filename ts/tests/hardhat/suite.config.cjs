// A Hardhat project whose tests use the parts of new projects: fixtures, helpers for time and accounts, matchers.
require('@nomicfoundation/hardhat-chai-matchers')
require('@nomicfoundation/hardhat-network-helpers')
const { version } = require('./solc.cjs')

module.exports = {
  defaultNetwork: 'rhizome',
  networks: { rhizome: { url: process.env.RPC_URL } },
  solidity: { version, settings: { evmVersion: 'cancun', optimizer: { enabled: true } } },
  paths: {
    root: __dirname,
    sources: `${__dirname}/contracts`,
    tests: `${__dirname}/suite`,
    cache: `${process.env.HARDHAT_OUTPUT}/cache`,
    artifacts: `${process.env.HARDHAT_OUTPUT}/artifacts`,
  },
}
