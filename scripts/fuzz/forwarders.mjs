// Creation codes of contracts that call the Bridge with their input, in each way, and store the results.

/** Pushes the arguments of a call: no more output than 512 bytes, and the whole input. */
const intoMemory = '3660006000376102006000366000'
const bridge = '6301000006'
/** Stores the result of the call and the hash of its output, and returns the output. */
const storeResult = '600055610200600020600155'
const returnOutput = '6102006000f3'
const call = `${intoMemory}34${bridge}5af1`

const codes = [
  `${call}${storeResult}${returnOutput}`,
  // Twice in one transaction.
  `${call}50${intoMemory}6000${bridge}5af1${storeResult}${returnOutput}`,
  `${intoMemory}${bridge}5afa${storeResult}${returnOutput}`,
  `${intoMemory}${bridge}5af4${storeResult}${returnOutput}`,
  `${intoMemory}34${bridge}5af2${storeResult}${returnOutput}`,
  // Undoes the call.
  `${call}6102006000fd`,
]

export const forwarders = codes.map((code) => {
  const length = (code.length / 2).toString(16).padStart(2, '0')
  return `0x60${length}600c60003960${length}6000f3${code}`
})
