//go:build simulate

package hint

import "coatcheck/internal/simulate"

// Goroutine returns what the stack of the running virtual processor hashes to.
func Goroutine() uint32 { return simulate.Stack() * Spread }
