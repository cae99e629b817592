// Package hint tells goroutines apart well enough to spread them, and no better.
//
// Sharded structures want each goroutine to return to the shard that it used last. Go has
// no goroutine-local storage, and does not export the number of the processor. But a
// goroutine's stack seldom moves, and no two stacks overlap. So the address of a local
// variable, without its low bits, is a hash of the goroutine: free to compute, and stable
// while the call depth changes little.
//
// A hint may be wrong in every way: two goroutines may have the same one, and one
// goroutine's may change when its stack moves or its calls nest deeply. It chooses where
// to look first and must never affect correctness.
package hint

// Spread is the factor that spreads a value over all 32 bits: 2^32 divided by the golden
// ratio (Knuth's multiplicative hash).
const Spread = 0x9E3779B9

// Goroutine returns the calling goroutine's hint.
func Goroutine() uint32 { return Of(Frame()) }

// Index maps a hint to 0 ≤ index < n without a division. It depends on the hint's high
// bits, which are the well-mixed ones.
func Index(h uint32, n int) int {
	return int(uint64(h) * uint64(n) >> 32)
}
