//go:build interleave

package atom

import "coatcheck/internal/check/interleave"

// Pause lets other virtual threads go first.
func Pause(int) { interleave.LetOthers() }

// Between is a point at which another thread may go on.
func Between() { interleave.Pause() }
