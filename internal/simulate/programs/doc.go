// Package programs has the programs that are simulated, each for the pool and for what
// people would use instead. They are the same programs when they run for real: without
// the build tag simulate, a [Runner] measures them with goroutines, so that it can be seen
// whether a simulation predicts what happens.
package programs
