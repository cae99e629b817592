package testkit

import "testing"

// FuzzChoices fuzzes run, which draws operations by choose. The first byte of an input is
// which, and each later byte a choice. The corpus has a random input of that size for each
// of the kinds.
func FuzzChoices(f *testing.F, kinds, size int, run func(t *testing.T, which int, choose func(n int) int, more func() bool)) {
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
		which := int(in[0])
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
