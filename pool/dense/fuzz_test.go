package dense_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/dense"
)

// FuzzOps decodes bytes into the operations of TestOperationsMatchModel: the first byte
// chooses the store, each other one a choice.
func FuzzOps(f *testing.F) {
	testkit.FuzzChoices(f, 2*len(modelConfigs[plain]()), 120, func(t *testing.T, which int, choose func(n int) int, more func() bool) {
		if which%2 == 0 {
			configs := modelConfigs[plain]()
			newMachine(t, plainKind, configs[which/2%len(configs)], choose).runAll(more)
		} else {
			configs := modelConfigs[boxed]()
			newMachine(t, boxedKind, configs[which/2%len(configs)], choose).runAll(more)
		}
	})
}

// FuzzReadFrom reads snapshots with valid checksums and arbitrary entries: three bytes
// each, for index, generation and whether there is a value. A snapshot that is accepted
// must give a sound store that has all of the values.
func FuzzReadFrom(f *testing.F) {
	f.Add([]byte{0, 1, 0, 0, 1, 1, 2, 3, 1, 1, 3, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		p := pool.Must(&pool.Options[dense.Saved[int]]{Shards: 1})
		values := 0
		for ; len(b) >= 3; b = b[3:] {
			e := dense.Saved[int]{Handle: uint64(b[1])<<32 | uint64(b[0])}
			if b[2]%2 == 1 {
				e.Value = new(int)
				values++
			}
			if _, err := p.Insert(e); err != nil {
				t.Fatal(err)
			}
		}
		var file bytes.Buffer
		if _, err := p.WriteTo(&file); err != nil {
			t.Fatal(err)
		}
		s, err := dense.ReadFrom[int](&file, nil)
		if err != nil {
			require.ErrorIs(t, err, pool.ErrCorrupt)
			return
		}
		require.Equal(t, values, s.Len())
		requireSound(t, s)
		create(t, s, 1)
		s.Clear()
		s.Trim()
		requireSound(t, s)
	})
}
