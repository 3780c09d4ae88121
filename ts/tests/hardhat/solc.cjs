// The compiler of the tested project, for Hardhat, which would otherwise download one.
const { subtask } = require('hardhat/config')
const { TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD } = require('hardhat/builtin-tasks/task-names')

const paths = [`${__dirname}/../../..`]
const compilerPath = require.resolve('solc/soljson.js', { paths })
const longVersion = require(require.resolve('solc', { paths })).version().replace('.Emscripten.clang', '')
const version = longVersion.split('+')[0]
subtask(TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD, () => ({ compilerPath, isSolcJs: true, version, longVersion }))

module.exports = { version }
