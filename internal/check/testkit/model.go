package testkit

import (
	"strconv"
	"testing"
)

// Stream draws operations by choose while more returns true, and does each on a structure
// and on a model of it. which chooses the kind of structure. It returns how often what
// happened.
type Stream func(t testing.TB, which int, choose func(n int) int, more func() bool) (done map[string]int)

// MatchModel runs streams of drawn operations on each of the kinds. It requires that each
// of must happened at least so often.
func MatchModel(t *testing.T, kinds, streams, steps int, run Stream, least int, must ...string) {
	rnd, done := Rand(t), map[string]int{}
	for which := range kinds {
		t.Run(strconv.Itoa(which), func(t *testing.T) {
			for range streams {
				left := steps
				for what, n := range run(t, which, rnd.IntN, func() bool { left--; return left >= 0 }) {
					done[what] += n
				}
			}
		})
	}
	if t.Failed() {
		return
	}
	for _, what := range must {
		if done[what] < least {
			t.Errorf("%q was hardly tried: %v", what, done)
		}
	}
}

// Once returns 1, or 0 where a test is too short to meet what is rare.
func Once() int {
	if Short() {
		return 0
	}
	return 1
}

// FuzzModel decodes bytes into the operations of MatchModel: the first byte of an input is which,
// and each later one a choice. The corpus has a random input of that size for each of the kinds.
func FuzzModel(f *testing.F, kinds, size int, run Stream) {
	rnd := Rand(f)
	for i := range kinds {
		seed := make([]byte, size)
		for j := range seed {
			seed[j] = byte(rnd.UintN(256))
		}
		seed[0] = byte(i)
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) < 2 || len(in) > 4096 {
			return
		}
		which := int(in[0]) % kinds
		in = in[1:]
		run(t, which, func(n int) int {
			if len(in) == 0 {
				return 0
			}
			c := int(in[0]) % n
			in = in[1:]
			return c
		}, func() bool { return len(in) > 0 })
	})
}
