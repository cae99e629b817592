//go:build !race

package dense_test

const raceEnabled = false
