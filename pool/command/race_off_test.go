//go:build !race && !coatcheck_debug

package command_test

const raceEnabled = false
