// Verifies answers of an untrusted node: accounts, storage and receipts against a block header, and a header by its proof
// of work. Runs in Node.js and browsers; opens no connections.
export { type Account, type AccountProof, verifyAccountProof } from './account.ts'
export type { Hex } from './bytes.ts'
export { type Fault, VerificationError } from './error.ts'
export { decodeHeader, fullHeader, type Header } from './header.ts'
export { type HeaderRules, type NetworkName, networks } from './networks.ts'
export { verifyHeader } from './proofOfWork.ts'
export { type Receipt, verifyReceiptProof } from './receipt.ts'
