//go:build interleave

package testkit

import (
	"flag"
	"math/rand/v2"
	"time"
)

var (
	generateFlag = flag.Duration("generate", 0, "draw programs for this long; 0: the first few hundred, the same each time")
	programFlag  = flag.Uint64("generate.seed", 0, "seed of drawn programs; with -generate, 0 draws one")
)

// Generate returns how long to draw programs, and their seed.
func Generate() (limit time.Duration, seed uint64) {
	limit, seed = *generateFlag, *programFlag
	if limit > 0 && seed == 0 {
		seed = rand.Uint64N(1 << 48)
	}
	return limit, seed
}
