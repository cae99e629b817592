// Package length says how much tests repeat. It is for tests alone.
//
// What a test repeats finds more the longer it goes on, and nobody waits a quarter
// of an hour for tests that are to run after every change. So there are three
// lengths: the full programme, which the environment asks for with
//
//	COATCHECK_FULL=1 go test -race ./...
//
// the usual one, and that of -short. They differ in repetitions alone, and in what
// a few tests skip in -short: the usual length has every kind of check.
package length

import (
	"os"
	"testing"
)

// variable is the one in the environment that asks for the full programme.
const variable = "COATCHECK_FULL"

// Full reports whether the full programme is asked for, and not -short.
func Full() bool { return os.Getenv(variable) != "" && !testing.Short() }

// Of returns n in the full programme, a quarter of it usually, and a tenth of it in
// -short; 1 at least.
func Of[N ~int | ~int64](n N) N {
	switch {
	case testing.Short():
		n /= 10
	case !Full():
		n /= 4
	}
	return max(1, n)
}
