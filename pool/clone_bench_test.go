//go:build !race

package pool_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/shard/slots"
)

// BenchmarkClone clones pools of values that have 16 bytes. The baseline is a copy of as many slots.
func BenchmarkClone(b *testing.B) {
	const n = 100_000
	list := make([]slots.Slot[[2]uint64], n)
	b.Run("impl=slice", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = slices.Clone(list)
		}
	})
	for _, o := range []pool.Options[[2]uint64]{{}, {Origin: 1, Shards: 1}} {
		p := pool.Must(&o)
		testkit.Fill(b, p, n, func(i int) [2]uint64 { return [2]uint64{uint64(i)} })
		b.Run(fmt.Sprint("impl=pool/Origin=", o.Origin), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, err := p.Clone(&o, nil)
				require.NoError(b, err)
			}
		})
		b.Run(fmt.Sprint("impl=snapshot/Origin=", o.Origin), func(b *testing.B) {
			b.ReportAllocs()
			var saved bytes.Buffer
			for b.Loop() {
				saved.Reset()
				_, err := p.WriteTo(&saved)
				require.NoError(b, err)
				_, err = pool.ReadFrom(&saved, &o)
				require.NoError(b, err)
			}
		})
	}
}
