// Package hint tells goroutines apart well enough to spread them, and no better.
//
// Sharded structures want each goroutine to come back to the shard that it used
// last. Go has no goroutine-local storage and the number of the processor is
// the runtime's own affair, but a goroutine's stack stays where it is for long,
// and no two stacks overlap. So the address of a local variable, without its
// low bits, is a hash of the goroutine: free to compute and stable while the
// call depth changes little.
//
// A hint may be wrong in every way: two goroutines may have the same one, and
// one goroutine may change its own when its stack moves or its calls nest
// deeply. It chooses where to look first and must never decide what is right.
package hint

// Spread is the factor that spreads what is known of a goroutine over all 32 bits: 2^32
// divided by the golden ratio (Knuth's multiplicative hash).
const Spread = 0x9E3779B9

// Index maps a hint to 0 ≤ index < n without a division: the hint's high bits,
// the well-mixed ones, decide.
func Index(h uint32, n int) int {
	return int(uint64(h) * uint64(n) >> 32)
}
