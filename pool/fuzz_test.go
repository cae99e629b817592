package pool_test

import (
	"testing"

	"coatcheck/pool"
)

// FuzzOps decodes bytes into the operations of TestOperationsMatchModel: the
// first chooses the pool, every other one a choice.
func FuzzOps(f *testing.F) {
	rnd := newRand(f)
	configs := len(modelConfigs(resetPlain))
	for i := range configs {
		seed := make([]byte, 60)
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
		if which%2 == 0 {
			mc := newMachine(t, plainKind, pick(modelConfigs(resetPlain), which/2), choose)
			mc.runAll(func() bool { return len(in) > 0 })
		} else {
			mc := newMachine(t, boxedKind, pick(modelConfigs(resetBoxed), which/2), choose)
			mc.runAll(func() bool { return len(in) > 0 })
		}
	})
}

func pick[T any](all []pool.Options[T], i int) pool.Options[T] { return all[i%len(all)] }
