import { PANIC_CODES } from '@nomicfoundation/hardhat-chai-matchers/panic.js'
import { loadFixture } from '@nomicfoundation/hardhat-network-helpers'
import { expect } from 'chai'
import hre from 'hardhat'

const { ethers } = hre

describe('Purse', () => {
  async function filled() {
    const [owner, other] = await ethers.getSigners()
    return { owner, other, purse: await ethers.deployContract('Purse', [100]) }
  }

  it('emits with its constructor', async () => {
    const { purse, owner } = await loadFixture(filled)
    const creation = purse.deploymentTransaction()
    await expect(creation).to.emit(purse, 'Transfer').withArgs(ethers.ZeroAddress, owner.address, 100)
  })

  it('moves tokens', async () => {
    const { purse, owner, other } = await loadFixture(filled)
    await expect(purse.transfer(other, 7)).to.changeTokenBalances(purse, [owner, other], [-7, 7])
  })

  it('begins each fixture with what was there at first', async () => {
    const { purse, other } = await loadFixture(filled)
    expect(await purse.balanceOf(other)).to.equal(0)
  })

  it('emits once for each transfer, and nothing else', async () => {
    const { purse, owner, other } = await loadFixture(filled)
    const transfer = purse.transfer(other, 1)
    await expect(transfer).to.emit(purse, 'Transfer').withArgs(owner, other, 1)
    await expect(transfer).not.to.emit(await ethers.deployContract('Purse', [1]), 'Transfer')
  })

  it('sends one transaction in a block of its own', async () => {
    const { purse, other } = await loadFixture(filled)
    const { blockNumber, hash } = await (await purse.transfer(other, 1)).wait()
    const block = await ethers.provider.getBlock(blockNumber)
    expect(block.transactions).to.deep.equal([hash])
  })

  it('fails with a custom error', async () => {
    const { purse, owner, other } = await loadFixture(filled)
    await expect(purse.transfer(other, 101))
      .to.be.revertedWithCustomError(purse, 'Insufficient')
      .withArgs(owner.address, 101, 100)
  })

  it('fails with a reason in a call', async () => {
    const { purse, other } = await loadFixture(filled)
    await expect(purse.connect(other).onlyOwner()).to.be.revertedWith('not the owner')
  })

  it('fails with a panic', async () => {
    const { purse } = await loadFixture(filled)
    await expect(purse.divide(1, 0)).to.be.revertedWithPanic(PANIC_CODES.DIVISION_BY_ZERO)
  })

  it('fails without a reason', async () => {
    const { purse } = await loadFixture(filled)
    await expect(purse.silent()).to.be.revertedWithoutReason(ethers)
  })

  it('fails in the block when its gas was not estimated', async () => {
    const { purse, other } = await loadFixture(filled)
    await expect(purse.transfer(other, 101, { gasLimit: 100_000 })).to.be.revertedWithCustomError(purse, 'Insufficient')
  })

  it('moves coins', async () => {
    const { owner, other } = await loadFixture(filled)
    await expect(owner.sendTransaction({ to: other, value: 5 })).to.changeEtherBalance(other, 5)
  })
})
