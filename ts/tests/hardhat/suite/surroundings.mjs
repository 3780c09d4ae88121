import {
  dropTransaction,
  impersonateAccount,
  loadFixture,
  mine,
  mineUpTo,
  setBalance,
  setBlockGasLimit,
  setCode,
  setCoinbase,
  setNextBlockBaseFeePerGas,
  setNonce,
  setPrevRandao,
  setStorageAt,
  stopImpersonatingAccount,
  takeSnapshot,
  time,
} from '@nomicfoundation/hardhat-network-helpers'
import { expect } from 'chai'
import hre from 'hardhat'

const { ethers, network } = hre
const stranger = '0x1234567890123456789012345678901234567890'

describe('helpers', () => {
  async function filled() {
    const [owner, other] = await ethers.getSigners()
    return { owner, other, purse: await ethers.deployContract('Purse', [100]) }
  }

  it('mine blocks', async () => {
    const before = await time.latestBlock()
    await mine()
    await mine(4)
    expect(await time.latestBlock()).to.equal(before + 5)
  })

  it('mine blocks so many seconds apart', async () => {
    await mine()
    const before = await time.latest()
    await mine(3, { interval: 60 })
    expect((await time.latest()) - before).to.be.within(120, 125)
  })

  it('mine up to a height', async () => {
    const height = (await time.latestBlock()) + 3
    await mineUpTo(height)
    expect(await time.latestBlock()).to.equal(height)
  })

  it('move the time on', async () => {
    const before = await time.latest()
    await time.increase(3600)
    expect((await time.latest()) - before).to.be.at.least(3600)
  })

  it('move the time to a moment', async () => {
    const moment = (await time.latest()) + 5000
    await time.increaseTo(moment)
    expect(await time.latest()).to.equal(moment)
  })

  it('set the time of the next block', async () => {
    const { purse } = await loadFixture(filled)
    const moment = (await time.latest()) + 77
    await time.setNextBlockTimestamp(moment)
    await purse.transfer(stranger, 1)
    expect(await time.latest()).to.equal(moment)
  })

  it('go back to a snapshot', async () => {
    const { purse } = await loadFixture(filled)
    const snapshot = await takeSnapshot()
    await purse.transfer(stranger, 1)
    await snapshot.restore()
    expect(await purse.balanceOf(stranger)).to.equal(0)
    await purse.transfer(stranger, 2)
    await snapshot.restore()
    expect(await purse.balanceOf(stranger)).to.equal(0)
  })

  it('send as any account', async () => {
    const { purse } = await loadFixture(filled)
    await purse.transfer(stranger, 3)
    await impersonateAccount(stranger)
    await setBalance(stranger, 10n ** 18n)
    await purse.connect(await ethers.getSigner(stranger)).transfer(purse, 2)
    await stopImpersonatingAccount(stranger)
    expect(await purse.balanceOf(stranger)).to.equal(1)
  })

  it('set the state of an account', async () => {
    const { purse } = await loadFixture(filled)
    const code = await ethers.provider.getCode(purse)
    await setCode(stranger, code)
    await setStorageAt(stranger, 1, ethers.ZeroHash)
    await setNonce(stranger, 9)
    expect(await ethers.provider.getCode(stranger)).to.equal(code)
    expect(await (await ethers.getContractAt('Purse', stranger)).owner()).to.equal(ethers.ZeroAddress)
    expect(await ethers.provider.getTransactionCount(stranger)).to.equal(9)
  })

  it('set what blocks are built with', async () => {
    const { purse } = await loadFixture(filled)
    const before = (await purse.surroundings()).gasLimit
    await setCoinbase(stranger)
    await setBlockGasLimit(before * 2n)
    await setNextBlockBaseFeePerGas(0)
    await setPrevRandao(1)
    await mine()
    const { coinbase, gasLimit } = await purse.surroundings()
    expect(coinbase).to.equal(stranger)
    expect(gasLimit).to.be.greaterThan(before)
  })

  it('take coinbase back with a fixture', async () => {
    const { purse } = await loadFixture(filled)
    await mine()
    expect((await purse.surroundings()).coinbase).not.to.equal(stranger)
  })

  it('hold transactions back and drop them', async () => {
    const { purse } = await loadFixture(filled)
    await network.provider.send('evm_setAutomine', [false])
    const [dropped, kept] = [await purse.transfer(stranger, 1), await purse.transfer(stranger, 2)]
    expect(await dropTransaction(dropped.hash)).to.equal(true)
    await network.provider.send('evm_setAutomine', [true])
    await mine()
    expect(await ethers.provider.getTransactionReceipt(dropped.hash)).to.equal(null)
    expect(await ethers.provider.getTransactionReceipt(kept.hash)).to.equal(null)
    await purse.transfer(stranger, 4)
    await mine()
    expect(await purse.balanceOf(stranger)).to.equal(6)
  })
})
