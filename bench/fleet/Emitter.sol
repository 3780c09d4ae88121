// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

/// Logs for change feeds.
contract Emitter {
    event Moved(address indexed by, uint256 indexed position, uint256 value);

    function emitMany(uint256 count) external {
        for (uint256 position = 0; position < count; position++) emit Moved(msg.sender, position, position * 3);
    }
}
