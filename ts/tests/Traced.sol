// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;

contract Child {
    uint256 public value;

    event Born(address indexed parent, uint256 value);

    constructor(uint256 start) payable {
        require(start != 13, "unlucky");
        value = start;
        emit Born(msg.sender, start);
    }

    function double() external returns (uint256) {
        value *= 2;
        return value;
    }

    function fail() external pure {
        revert("child says no");
    }

    function die(address payable heir) external {
        selfdestruct(heir);
    }
}

/// Does what traces have to show: creations, calls, failures inside and out, a built-in contract, a self-destruct.
contract Traced {
    Child public child;
    uint256 public count;

    event Worked(uint256 count);

    function work() external payable returns (uint256 result) {
        child = new Child{value: msg.value}(21);
        result = child.double();
        count = result;
        emit Worked(result);
        try child.fail() {} catch {}
        try new Child(13) {} catch {}
        require(sha256("abc") != bytes32(0));
        child.die(payable(msg.sender));
    }

    function refuse() external {
        count = 7;
        new Child(1).fail();
    }

    function spin() external view {
        while (gasleft() > 0) {}
    }
}
