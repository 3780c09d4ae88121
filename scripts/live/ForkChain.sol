// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

/// A token, behind a proxy or not.
contract Token {
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    uint256 public totalSupply;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    error InsufficientBalance(address owner, uint256 balance, uint256 wanted);

    function mint(address to, uint256 value) external {
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) public returns (bool) {
        return move(msg.sender, to, value);
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        require(allowance[from][msg.sender] >= value, "allowance");
        allowance[from][msg.sender] -= value;
        return move(from, to, value);
    }

    function move(address from, address to, uint256 value) internal returns (bool) {
        if (balanceOf[from] < value) revert InsufficientBalance(from, balanceOf[from], value);
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
        return true;
    }
}

/// Delegates to the address in the slot of EIP-1967.
contract Proxy {
    constructor(address implementation) {
        assembly {
            sstore(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc, implementation)
        }
    }

    fallback() external payable {
        assembly {
            let target := sload(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc)
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), target, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            switch done
            case 0 { revert(0, returndatasize()) }
            default { return(0, returndatasize()) }
        }
    }
}

/// A contract that other contracts create, and that ends on request.
contract Child {
    uint256 public value;

    constructor(uint256 start) payable {
        require(start != 13, "unlucky");
        value = start;
    }

    function end(address payable heir) external {
        selfdestruct(heir);
    }
}

/// Reads and changes everything that a fork has to know.
contract Probe {
    mapping(uint256 => uint256) public slots;
    Child public child;

    event Probed(uint256 indexed kind, bytes32 value);

    function block_(uint256 number) external view returns (bytes32, uint256, uint256, uint256, address, uint256) {
        return (blockhash(number), block.number, block.chainid, block.gaslimit, block.coinbase, block.prevrandao);
    }

    function account(address one) external view returns (uint256, uint256, bytes32, bytes memory) {
        return (one.balance, one.code.length, one.codehash, one.code);
    }

    function ask(address target, bytes calldata input) external view returns (bool, bytes memory) {
        return target.staticcall(input);
    }

    function pass(address target, bytes calldata input) external payable returns (bool done, bytes memory output) {
        (done, output) = target.call{value: msg.value}(input);
        emit Probed(1, keccak256(output));
    }

    function write(uint256 first, uint256 count, uint256 value) external {
        for (uint256 at = first; at < first + count; at++) slots[at] = value == 0 ? 0 : value + at;
        emit Probed(2, bytes32(value));
    }

    function sum(uint256 first, uint256 count) external view returns (uint256 total) {
        for (uint256 at = first; at < first + count; at++) total += slots[at];
    }

    function create(uint256 start, uint256 salt) external payable {
        child = salt == 0 ? new Child{value: msg.value}(start) : new Child{value: msg.value, salt: bytes32(salt)}(start);
        emit Probed(3, bytes32(uint256(uint160(address(child)))));
    }

    function end(address payable heir) external {
        child.end(heir);
        emit Probed(4, bytes32(address(child).code.length));
    }

    function fail(uint256 kind) external {
        slots[0] = kind;
        if (kind == 0) revert("refused");
        if (kind == 1) revert Token.InsufficientBalance(msg.sender, 1, 2);
        if (kind == 2) assert(kind == 0);
        if (kind == 3) this.fail(0);
        assembly { invalid() }
    }

    function spend(uint256 rounds) external view returns (bytes32 value) {
        for (uint256 at = 0; at < rounds; at++) value = keccak256(abi.encode(value, gasleft() > 0));
    }

    receive() external payable {
        emit Probed(5, bytes32(msg.value));
    }
}
