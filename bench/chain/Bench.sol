// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

/// What the benchmarks call: a token, a view that computes, a refusal, and events far apart.
contract Bench {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Mark(uint256 indexed series, uint256 position);

    mapping(address => uint256) public balanceOf;

    /// Gives each holder the same number of tokens and an equal share of the coins sent along.
    function deal(address payable[] calldata holders, uint256 tokens) external payable {
        for (uint256 index = 0; index < holders.length; index++) {
            balanceOf[holders[index]] = tokens;
            holders[index].transfer(msg.value / holders.length);
        }
    }

    function transfer(address to, uint256 value) external returns (bool) {
        require(balanceOf[msg.sender] >= value, "not enough tokens");
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
        return true;
    }

    function hashRounds(uint256 rounds) external pure returns (bytes32 result) {
        for (uint256 round = 0; round < rounds; round++) result = keccak256(abi.encode(result, round));
    }

    function mark(uint256 series, uint256 position) external {
        emit Mark(series, position);
    }
}
