// Tests of OpenZeppelin v5.7 that fail on Rootstock, rskj included, by rule.

export const openZeppelinFailures: Readonly<Record<string, readonly string[]>> = {
  /** Rootstock has no transactions of type 4 (EIP-7702). */
  noSetCodeTransactions: [
    'AccountEIP7702 > entryPoint > should return the canonical entrypoint',
    'AccountEIP7702 > validateUserOp > "before each" hook for "should revert if the caller is not the canonical entrypoint"',
    'AccountEIP7702 > fallback > should receive ether',
    'AccountEIP7702 > onReceived > "before each" hook for "all interface functions are in ABI"',
    'AccountEIP7702 > supports ERC-7739 > "before each" hook for "support ERC-7739 detection"',
    'AccountEIP7702 > supports ERC-7821 > should revert if the caller is not the canonical entrypoint or the account itself',
    'AccountEIP7702 > supports ERC-7821 > when deployed > "before each" hook for "should increase nonce and call target"',
    'AccountEIP7702WithModules: EIP-7702 account with ERC-7579 modules supports > using EIP-7702 signer > entryPoint > should return the canonical entrypoint',
    'AccountEIP7702WithModules: EIP-7702 account with ERC-7579 modules supports > using EIP-7702 signer > validateUserOp > "before each" hook for "should revert if the caller is not the canonical entrypoint"',
    'AccountEIP7702WithModules: EIP-7702 account with ERC-7579 modules supports > using EIP-7702 signer > fallback > should receive ether',
    'AccountEIP7702WithModules: EIP-7702 account with ERC-7579 modules supports > using EIP-7702 signer > onReceived > "before each" hook for "all interface functions are in ABI"',
    'AccountEIP7702WithModules: EIP-7702 account with ERC-7579 modules supports > using EIP-7702 signer > supports ERC-7821 > should revert if the caller is not the canonical entrypoint or the account itself',
    'AccountEIP7702WithModules: EIP-7702 account with ERC-7579 modules supports > using EIP-7702 signer > supports ERC-7821 > when deployed > "before each" hook for "should increase nonce and call target"',
    'AccountEIP7702WithModules: EIP-7702 account with ERC-7579 modules supports > using EIP-7702 signer > supports ERC-7739 > "before each" hook for "support ERC-7739 detection"',
    'AccountEIP7702WithModules: EIP-7702 account with ERC-7579 modules supports > using ERC-7579 validator > "before each" hook for "should return the canonical entrypoint"',
    'EIP7702Utils > fetchDelegate > EOA with delegation',
    'EIP7702Utils > fetchDelegate > EOA with revoked delegation',
  ],
  /** A creation gets all gas instead of 63/64: a creation at a taken address leaves no gas for an error. */
  creationsTakeAllGas: [
    'Clones > without immutable args > cloneDeterministic > revert if address already used',
    'Clones > with immutable args: 0x > cloneDeterministic > revert if address already used',
    'Clones > with immutable args: 0x11223344 > cloneDeterministic > revert if address already used',
    'ERC1967Clones > deterministic deployment (create2) > reverts when the same implementation and salt are reused',
    'Create2 > deploy > fails deploying a contract in an existent address',
    'Create3 > deploy > fails deploying a contract in an existent address',
  ],
  /** A call gets all gas instead of 63/64: when it halts, none is left for an error. */
  callsTakeAllGas: [
    'TimelockController > usage scenario > call out of gas',
    'ERC2771Forwarder > execute > bubbles out of gas',
    'ERC2771Forwarder > execute > bubbles out of gas forced by the relayer',
    'ERC2771Forwarder > executeBatch > with tampered requests > bubbles out of gas',
    'ERC2771Forwarder > executeBatch > with tampered requests > bubbles out of gas forced by the relayer',
    'Address > functionCall > with valid contract receiver > reverts when the called function runs out of gas',
    'Address > functionStaticCall > reverts on a non-static function',
    'RSA > modexp failure > returns false instead of reverting when the modexp precompile runs out of gas',
  ],
  /** A creation that reverts leaves no return data. */
  creationsRevertWithoutData: [
    'Create2 > deploy > reverts error thrown during contract creation > bubbles up message',
    'Create2 > deploy > reverts error thrown during contract creation > bubbles up custom error',
    'Create2 > deploy > reverts error thrown during contract creation > bubbles up panic',
    'Create3 > deploy > reverts error thrown during contract creation > bubbles up message',
    'Create3 > deploy > reverts error thrown during contract creation > bubbles up custom error',
    'Create3 > deploy > reverts error thrown during contract creation > bubbles up panic',
  ],
  /** The nonce of a new contract is 0 instead of 1: the contracts that it creates have other addresses. */
  nonceOfNewContracts: [
    'ProxyAdmin > has an owner',
    'ProxyAdmin > has an interface version',
    'ProxyAdmin > without data > with unauthorized account > fails to upgrade',
    'ProxyAdmin > without data > with authorized account > upgrades implementation',
    'ProxyAdmin > with data > with unauthorized account > fails to upgrade',
    'ProxyAdmin > with data > with authorized account > with invalid callData > fails to upgrade',
    'ProxyAdmin > with data > with authorized account > with valid callData > upgrades implementation',
    'TransparentUpgradeableProxy > proxy admin > emits AdminChanged event during construction',
    'TransparentUpgradeableProxy > proxy admin > sets the proxy admin in storage with the correct initial owner',
    'TransparentUpgradeableProxy > proxy admin > can overwrite the admin by the implementation',
    'TransparentUpgradeableProxy > upgradeToAndCall > without migrations > when the call does not fail > when the sender is the admin > "before each" hook for "upgrades to the requested implementation"',
    'TransparentUpgradeableProxy > upgradeToAndCall > with migrations > when the sender is the admin > when upgrading to V1 > "before each" hook for "upgrades to the requested version and emits an event"',
    'TransparentUpgradeableProxy > transparent proxy > proxy admin cannot call delegated functions',
    'TransparentUpgradeableProxy > transparent proxy > when function names clash > executes the proxy function if the sender is the admin',
    'TransparentUpgradeableProxy > regression > should add new function',
    'TransparentUpgradeableProxy > regression > should remove function',
    'TransparentUpgradeableProxy > regression > should change function signature',
    'TransparentUpgradeableProxy > regression > should add fallback function',
    'TransparentUpgradeableProxy > regression > should remove fallback function',
  ],
  /** A contract above 24,576 bytes, which the network of Hardhat accepts by a setting. */
  codeSize: [
    'GovernorStorage > using $ERC20Votes > "before each" hook for "queue and execute by id"',
    'GovernorStorage > using $ERC20VotesTimestampMock > "before each" hook for "queue and execute by id"',
  ],
  /** There is no precompile for secp256r1. */
  noSecp256r1: [
    'P256 > with signature > verify valid signature',
    'P256 > with signature > reject signature with flipped signature values ([r,s] >> [s,r])',
    'P256 > with signature > reject signature with invalid message hash',
  ],
  /** EXTCODESIZE of a precompile is not 0. */
  precompilesHaveCode: ['BeaconProxy > bad beacon is not accepted > non-contract implementation'],
  /** Headers and tries have other encodings; transactions are signed without a type. */
  headersAndTries: [
    'BlockHeader > current block',
    'BlockHeader > reads all fields from pre-parsed list',
    'TrieProof > verify > verify transaction and receipt inclusion in block',
    'TrieProof > verify > processes valid account and storage proofs > returns true with proof size 1 (even leaf [0x20])',
    'TrieProof > verify > processes valid account and storage proofs > returns true with proof size 2 (branch then odd leaf [0x3])',
    'TrieProof > verify > processes valid account and storage proofs > returns true with proof size 3 (even extension [0x00], branch then leaf)',
    'TrieProof > verify > processes valid account and storage proofs > returns true with proof size 3 (odd extension [0x1], branch then leaf)',
    'TrieProof > process invalid proofs > fails to process proof with invalid root hash',
    'TrieProof > process invalid proofs > fails to process proof with invalid internal large hash',
  ],
}
