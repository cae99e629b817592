package testkit

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
)

// seedFlag repeats a generated test: go test -run TestX -seed N.
var seedFlag = flag.Uint64("seed", 0, "seed of generated tests; 0 draws one")

// Seed returns a seed, which a failure prints. What a generated test does has no length that it
// could tell, so the test has three times its Patience as a whole.
func Seed(t testing.TB) uint64 {
	seed := cmp.Or(*seedFlag, rand.Uint64())
	Repeats(t, fmt.Sprintf("-seed %d", seed))
	t.Cleanup(limited(t.Name(), 3*Patience()))
	return seed
}

// Rand returns a source of numbers whose seed a failure prints.
func Rand(t testing.TB) *rand.Rand { return rand.New(rand.NewPCG(Seed(t), 0)) }
