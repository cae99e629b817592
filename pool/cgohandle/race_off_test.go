//go:build !race && !coatcheck_debug

package cgohandle_test

const raceEnabled = false
