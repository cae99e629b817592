// Coatvet reports misuse of coatcheck/pool. Package coatvet lists what it finds. Both forms check the
// packages of the current module, with their tests:
//
//	go vet -vettool=$(which coatvet) ./...
//	coatvet ./...
//
// The first is faster when it runs again, because go vet remembers packages that have not changed.
package main

import (
	"golang.org/x/tools/go/analysis/multichecker"

	"coatcheck/pool/coatvet"
)

func main() { multichecker.Main(coatvet.Analyzers...) }
