// Package bubble tells apart the clocks of package testing/synctest. Each bubble of a test has a
// clock of its own, which begins with the year 2000, and pools may be used in several.
package bubble

import "time"

// Inside reports whether the calling goroutine is in a bubble.
func Inside() bool { return Read(time.Now()) }

// Read reports whether t, which time.Now has returned, was read from a bubble's clock. The standard
// library does not say so; but in a bubble alone, time.Now returns no monotonic reading.
func Read(t time.Time) bool { return t == t.Round(0) }
