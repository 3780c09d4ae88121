// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

/// Counts up, tells of it in an event, and refuses in three different ways.
contract Counter {
    event Increased(address indexed by, uint256 indexed step, uint256 total);

    error TooMuch(uint256 wanted, uint256 most);

    uint256 public total;

    constructor(uint256 start) {
        total = start;
    }

    function increase(uint256 step) external returns (uint256) {
        require(step > 0, "the step is zero");
        if (step > 1000) revert TooMuch(step, 1000);
        total += step;
        emit Increased(msg.sender, step, total);
        return total;
    }

    function decrease(uint256 step) external {
        total -= step;
    }
}
