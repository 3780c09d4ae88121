// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;

/// A token that fails in all ways that the tests need.
contract Purse {
    mapping(address => uint256) public balanceOf;
    address public owner = msg.sender;

    event Transfer(address indexed from, address indexed to, uint256 value);

    error Insufficient(address from, uint256 wanted, uint256 has);

    constructor(uint256 supply) {
        balanceOf[msg.sender] = supply;
        emit Transfer(address(0), msg.sender, supply);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        uint256 has = balanceOf[msg.sender];
        if (has < value) revert Insufficient(msg.sender, value, has);
        unchecked {
            balanceOf[msg.sender] = has - value;
            balanceOf[to] += value;
        }
        emit Transfer(msg.sender, to, value);
        return true;
    }

    function onlyOwner() external view returns (bool) {
        require(msg.sender == owner, "not the owner");
        return true;
    }

    function divide(uint256 a, uint256 b) external pure returns (uint256) {
        return a / b;
    }

    function silent() external {
        owner = msg.sender;
        revert();
    }

    function surroundings() external view returns (address coinbase, uint256 timestamp, uint256 gasLimit) {
        return (block.coinbase, block.timestamp, block.gaslimit);
    }
}
