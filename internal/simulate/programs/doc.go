// Package programs has the simulated programs, each for the pool and for what programs use
// in its place. Without the build tag simulate, a [Runner] measures the same programs with
// goroutines, to check the prediction.
package programs
