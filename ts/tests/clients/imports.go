// The packages that the program in docs/tools.md imports: set-up builds them once.
package main

import (
	_ "github.com/ethereum/go-ethereum/accounts/abi/bind"
	_ "github.com/ethereum/go-ethereum/ethclient"
)

func main() {}
