//go:build simulate

package atom

import "coatcheck/internal/simulate"

// Pause lets other processors run.
func Pause(round int) { simulate.Pause(round) }

// Between is nothing.
func Between() {}
