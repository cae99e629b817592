//go:build interleave

package testkit

import (
	"flag"
	"math/rand/v2"
	"time"
)

var (
	generateFlag = flag.Duration("generate", 0, "draw programs for so long; 0: the first few hundred, which are the same each time")
	programFlag  = flag.Uint64("generate.seed", 0, "seed of all that is drawn; with -generate, 0 draws one")
)

// Generate returns for how long programs are to be drawn, and the seed of all that is.
func Generate() (limit time.Duration, seed uint64) {
	limit, seed = *generateFlag, *programFlag
	if limit > 0 && seed == 0 {
		seed = rand.Uint64N(1 << 48)
	}
	return limit, seed
}
