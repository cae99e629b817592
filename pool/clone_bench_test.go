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

// BenchmarkClone clones pools of values that have 16 or 64 bytes. The baselines are a copy of as many slots, and a
// snapshot that is written to memory and read.
func BenchmarkClone(b *testing.B) {
	b.Run("size=16", benchmarkClone[[2]uint64])
	b.Run("size=64", benchmarkClone[[8]uint64])
}

func benchmarkClone[T any](b *testing.B) {
	const n = 100_000
	list := make([]slots.Slot[T], n)
	b.Run("impl=slice", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = slices.Clone(list)
		}
	})
	for _, o := range []pool.Options[T]{{}, {Origin: 1, Shards: 1}} {
		p := pool.Must(&o)
		testkit.Fill(b, p, n, func(int) (v T) { return v })
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
