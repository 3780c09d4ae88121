// Prints the events that a project receives: `head N` for each block, `log N` for each log of an address, by subscription;
// after the given number of heads, the changes of a filter, with negative numbers for removed logs. `npx hardhat run watch.mjs`.
import hre from 'hardhat'

const { ethers, network } = hre
const address = process.env.WATCHED
const print = (...words) => process.stdout.write(`${words.join(' ')}\n`)
const filter = await network.provider.send('eth_newFilter', [{ address }])
const provider = new ethers.WebSocketProvider(network.config.url.replace('http', 'ws'))
let heads = 0
await provider.on({ address }, ({ blockNumber }) => print('log', blockNumber))
await provider.on('block', async (number) => {
  print('head', number)
  heads++
  if (heads === 3 || heads === 10) {
    const logs = await network.provider.send('eth_getFilterChanges', [filter])
    print('filter', ...logs.map(({ removed, blockNumber }) => (removed ? -Number(blockNumber) : Number(blockNumber))))
  }
  if (heads === 10) await provider.destroy()
})
await provider.send('eth_syncing', [])
print('watching')
