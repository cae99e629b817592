//go:build interleave

package atom

import "coatcheck/internal/check/interleave"

// Pause yields to the other virtual threads.
func Pause(int) { interleave.LetOthers() }

// PauseUnless is Pause.
func PauseUnless(int, <-chan struct{}) { interleave.LetOthers() }

// Between is a step, at which another virtual thread may run.
func Between() { interleave.Pause() }
