// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

import {Counter} from "../src/Counter.sol";

/// The part of Foundry's cheatcodes that is used here.
interface Vm {
    function startBroadcast() external;
    function stopBroadcast() external;
}

contract Deploy {
    bool public constant IS_SCRIPT = true;
    Vm constant vm = Vm(0x7109709ECfa91a80626fF3989D68f67F5b1DD12D);

    function run() external {
        vm.startBroadcast();
        Counter counter = new Counter(40);
        counter.increase(2);
        vm.stopBroadcast();
        require(counter.number() == 42);
    }
}
