//go:build simulate

package hint

import "coatcheck/internal/simulate"

// Goroutine returns the hash of the running virtual processor's stack.
func Goroutine() uint32 { return simulate.Stack() * Spread }
