package table_test

import "testing"

// FuzzOps decodes bytes into the operations of TestOperationsMatchModel: the
// first chooses the kind of keys, every other one a choice.
func FuzzOps(f *testing.F) {
	rnd := newRand(f)
	for i := range kinds {
		seed := make([]byte, 120)
		for j := range seed {
			seed[j] = byte(rnd.UintN(256))
		}
		seed[0] = byte(i)
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) < 2 || len(in) > 1024 {
			return
		}
		kind := kinds[int(in[0])%len(kinds)]
		in = in[1:]
		choose := func(n int) int {
			if len(in) == 0 {
				return 0
			}
			c := int(in[0]) % n
			in = in[1:]
			return c
		}
		kind.run(t, choose, func() bool { return len(in) > 0 })
	})
}
