// Command simulated runs the programs of internal/simulate: under the build tag simulate
// on virtual processors, and without it for real, to see whether that is predicted. Both
// print lines in Go's benchmark format; docs/many-processors.md says how to read them.
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
