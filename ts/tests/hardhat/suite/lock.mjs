import { anyValue } from '@nomicfoundation/hardhat-chai-matchers/withArgs.js'
import { loadFixture, time } from '@nomicfoundation/hardhat-network-helpers'
import { expect } from 'chai'
import hre from 'hardhat'

const { ethers } = hre
const year = 365 * 24 * 60 * 60
const amount = 1_000_000_000n

describe('Lock', () => {
  async function locked() {
    const unlockTime = (await time.latest()) + year
    const [owner, other] = await ethers.getSigners()
    const lock = await ethers.deployContract('Lock', [unlockTime], { value: amount })
    return { lock, unlockTime, owner, other }
  }

  it('sets the unlock time', async () => {
    const { lock, unlockTime } = await loadFixture(locked)
    expect(await lock.unlockTime()).to.equal(unlockTime)
  })

  it('sets the owner', async () => {
    const { lock, owner } = await loadFixture(locked)
    expect(await lock.owner()).to.equal(owner.address)
  })

  it('receives and stores the coins', async () => {
    const { lock } = await loadFixture(locked)
    expect(await ethers.provider.getBalance(lock.target)).to.equal(amount)
  })

  it('fails if the unlock time is not in the future', async () => {
    const Lock = await ethers.getContractFactory('Lock')
    await expect(Lock.deploy(await time.latest(), { value: 1 })).to.be.revertedWith(
      'Unlock time should be in the future',
    )
  })

  it('refuses a withdrawal that comes too soon', async () => {
    const { lock } = await loadFixture(locked)
    await expect(lock.withdraw()).to.be.revertedWith("You can't withdraw yet")
  })

  it('refuses a withdrawal by another account', async () => {
    const { lock, unlockTime, other } = await loadFixture(locked)
    await time.increaseTo(unlockTime)
    await expect(lock.connect(other).withdraw()).to.be.revertedWith("You aren't the owner")
  })

  it('allows the withdrawal after the unlock time', async () => {
    const { lock, unlockTime } = await loadFixture(locked)
    await time.increaseTo(unlockTime)
    await expect(lock.withdraw()).not.to.be.reverted
  })

  it('emits an event on withdrawals', async () => {
    const { lock, unlockTime } = await loadFixture(locked)
    await time.increaseTo(unlockTime)
    await expect(lock.withdraw()).to.emit(lock, 'Withdrawal').withArgs(amount, anyValue)
  })

  it('transfers the coins to the owner', async () => {
    const { lock, unlockTime, owner } = await loadFixture(locked)
    await time.increaseTo(unlockTime)
    await expect(lock.withdraw()).to.changeEtherBalances([owner, lock], [amount, -amount])
  })
})
