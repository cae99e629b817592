//go:build simulate

package atom

import "coatcheck/internal/simulate"

// Pause yields to the other processors.
func Pause(round int) { simulate.Pause(round) }

// Between does nothing.
func Between() {}
