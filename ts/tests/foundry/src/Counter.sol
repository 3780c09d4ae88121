// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

contract Counter {
    event Increased(uint256 total);

    uint256 public number;

    constructor(uint256 start) payable {
        number = start;
    }

    function increase(uint256 step) external {
        number += step;
        emit Increased(number);
    }
}
