package testkit

import (
	"os"
	"testing"
)

// How long tests are is decided here. A new user wants to see soon that all passes. The gate repeats
// more often, and the full programme runs for hours:
//
//	go test -race ./...                          # short
//	COATCHECK_LENGTH=gate go test -race ./...    # as long as in the gate
//	COATCHECK_LENGTH=full go test -race ./...    # the full programme
//
// The lengths differ in repetitions alone, except that a few tests skip checks when they are short.
// With -short tests are short, whatever the environment says.
//
// A test file of one goroutine that is no recipe of the cookbook begins with "//go:build !race": the detector
// would find nothing in it, and it takes ten times as long to compile and to run with it.

// length returns what COATCHECK_LENGTH asks for, or "" for short tests.
func length() string {
	l := os.Getenv("COATCHECK_LENGTH")
	if l != "" && l != "gate" && l != "full" {
		panic("COATCHECK_LENGTH is " + l + ", and should be gate or full")
	}
	if testing.Short() {
		return ""
	}
	return l
}

// Short reports whether tests are short.
func Short() bool { return !Full() && length() != "gate" }

// Full reports whether this is the full programme.
func Full() bool { return length() == "full" }

// lengthened tells how to make tests as long as they are now: a generated test of another length may
// draw something else.
func lengthened() string {
	switch {
	case testing.Short():
		return ", and -short"
	case Short():
		return ""
	}
	return ", and COATCHECK_LENGTH=" + length()
}

// Long returns n in the full programme, n/6 in the gate, and n/10 in short tests; at least 1. Under the race
// detector, which makes tests ten times as slow, the gate has n/10 too: it runs all tests without it as well.
func Long[N ~int | ~int64 | ~uint64](n N) N {
	switch {
	case Short(), !Full() && Race:
		n /= 10
	case !Full():
		n /= 6
	}
	return max(1, n)
}

// LongAlone is Long for a test of one goroutine in a file of several, to which the race detector adds
// little. With it, the test does a quarter.
func LongAlone[N ~int | ~int64 | ~uint64](n N) N {
	if Race {
		n /= 4
	}
	return Long(n)
}
