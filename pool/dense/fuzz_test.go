package dense_test

import "testing"

// FuzzOps decodes bytes into the operations of TestOperationsMatchModel: the first
// chooses the store, every other one a choice.
func FuzzOps(f *testing.F) {
	rnd := newRand(f)
	for i := range 2 * len(modelConfigs[plain]()) {
		seed := make([]byte, 120)
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
		choose := func(n int) int {
			if len(in) == 0 {
				return 0
			}
			c := int(in[0]) % n
			in = in[1:]
			return c
		}
		more := func() bool { return len(in) > 0 }
		if which%2 == 0 {
			configs := modelConfigs[plain]()
			newMachine(t, plainKind, configs[which/2%len(configs)], choose).runAll(more)
		} else {
			configs := modelConfigs[boxed]()
			newMachine(t, boxedKind, configs[which/2%len(configs)], choose).runAll(more)
		}
	})
}
