//go:build interleave

package atom

import "coatcheck/internal/check/interleave"

// Pause lets other virtual threads go first.
func Pause(int) { interleave.LetOthers() }
