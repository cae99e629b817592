package command_test

import (
	"math/rand/v2"
	"testing"
)

// FuzzOps decodes bytes into the operations of TestOperationsMatchModel: the
// first chooses the pool, every other one a choice.
func FuzzOps(f *testing.F) {
	configs := machineConfigs()
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range configs {
		seed := make([]byte, 80)
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
		o := configs[int(in[0])%len(configs)]
		in = in[1:]
		choose := func(n int) int {
			if len(in) == 0 {
				return 0
			}
			c := int(in[0]) % n
			in = in[1:]
			return c
		}
		newMachine(t, o, choose).run(func() bool { return len(in) > 0 })
	})
}
