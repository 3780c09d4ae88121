// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.0;

/// Contract of the growing state: a mapping whose slots are hashes, as those of a token.
contract Growth {
    /// Slot of entry i: keccak256(i . 0).
    mapping(uint256 => uint256) public entries;

    event Moved(address indexed from, uint256 indexed entry, uint256 value);

    /// Writes `slots` new entries from `first` on, sends coins to `accounts` new accounts, and emits `logs` logs.
    function grow(uint256 first, uint256 slots, uint256 firstAccount, uint256 accounts, uint256 logs, uint256 salt)
        external
    {
        unchecked {
            for (uint256 i = first; i < first + slots; i++) entries[i] = number(i, salt) >> 160;
            for (uint256 i = firstAccount; i < firstAccount + accounts; i++) {
                // Below 2^56 wei: the contract has enough for all accounts.
                (bool isPaid,) = payable(accountAt(i)).call{value: (number(i, salt) >> 200) + 1}("");
                require(isPaid);
            }
            for (uint256 i = first; i < first + logs; i++) emit Moved(msg.sender, i, salt);
        }
    }

    /// Changes `updates` random entries below `range`, and emits a log.
    function update(uint256 range, uint256 updates, uint256 salt) external {
        unchecked {
            for (uint256 i = 0; i < updates; i++) {
                uint256 entry = number(i, salt) % range;
                entries[entry] = ((entries[entry] + number(i, salt)) >> 160) + 1;
            }
            emit Moved(msg.sender, updates, salt);
        }
    }

    /// Sum of `reads` random entries below `range`.
    function total(uint256 range, uint256 reads, uint256 salt) public view returns (uint256 sum) {
        unchecked {
            for (uint256 i = 0; i < reads; i++) sum += entries[number(i + range, salt) % range];
        }
    }

    /// Address of a made account.
    function accountAt(uint256 index) public pure returns (address) {
        return address(uint160(number(index, 1)));
    }

    function number(uint256 index, uint256 salt) private pure returns (uint256 hash) {
        assembly ("memory-safe") {
            mstore(0, index)
            mstore(32, salt)
            hash := keccak256(0, 64)
        }
    }
}
