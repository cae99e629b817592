package testkit

import (
	"os"
	"testing"
)

// How often tests repeat. A repetition may find more, but tests that run after every change
// must be short. So there are three lengths: the full programme, by
//
//	COATCHECK_FULL=1 go test -race ./...
//
// the usual one, and -short. They differ in repetitions alone, except that a few tests skip
// checks in -short.

// Full reports whether this is the full programme.
func Full() bool { return os.Getenv("COATCHECK_FULL") != "" && !testing.Short() }

// Long returns n in the full programme, n/4 usually, and n/10 in -short; at least 1.
func Long[N ~int | ~int64 | ~uint64](n N) N {
	switch {
	case testing.Short():
		n /= 10
	case !Full():
		n /= 4
	}
	return max(1, n)
}

// LongAlone is Long for a test to which the race detector adds little, as it has one goroutine, or is
// about amounts and not about races. With it, the test does a quarter.
func LongAlone[N ~int | ~int64 | ~uint64](n N) N {
	if Race {
		n /= 4
	}
	return Long(n)
}
