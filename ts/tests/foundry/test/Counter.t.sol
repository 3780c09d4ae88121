// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

import {Counter} from "../src/Counter.sol";

/// The part of Foundry's cheatcodes that is used here.
interface Vm {
    function envAddress(string calldata) external view returns (address);
    function prank(address) external;
}

contract CounterTest {
    bool public constant IS_TEST = true;
    address constant OWNER = 0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826;
    Vm constant vm = Vm(0x7109709ECfa91a80626fF3989D68f67F5b1DD12D);

    function test_reads_and_changes_the_state_of_the_fork() external {
        Counter counter = Counter(vm.envAddress("COUNTER"));
        require(counter.number() == 45, "number of the fork");
        vm.prank(OWNER);
        counter.increase(8);
        require(counter.number() == 53, "number after the change");
        require(block.chainid == 33, "chain id");
        require(OWNER.balance > 0, "balance");
    }
}
