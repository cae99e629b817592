// Package length says how often tests repeat.
//
// A repetition may find more, but tests that run after every change must be short. So
// there are three lengths: the full programme, by
//
//	COATCHECK_FULL=1 go test -race ./...
//
// the usual one, and -short. They differ in repetitions alone, except that a few tests skip
// checks in -short.
package length

import (
	"os"
	"testing"
)

// variable is the environment variable of the full programme.
const variable = "COATCHECK_FULL"

// Full reports whether this is the full programme.
func Full() bool { return os.Getenv(variable) != "" && !testing.Short() }

// Of returns n in the full programme, n/4 usually, and n/10 in -short; at least 1.
func Of[N ~int | ~int64](n N) N {
	switch {
	case testing.Short():
		n /= 10
	case !Full():
		n /= 4
	}
	return max(1, n)
}
