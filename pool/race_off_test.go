//go:build !race && !coatcheck_debug

package pool_test

const raceEnabled = false
