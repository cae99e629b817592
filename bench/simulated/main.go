// Command simulated runs the programs of internal/simulate: with the build tag simulate on
// virtual processors, and without it on real ones, to check the prediction. Both print
// Go's benchmark format; docs/many-processors.md says how to read it.
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "simulated:", err)
		os.Exit(1)
	}
}
