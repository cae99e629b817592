package table_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool/table"
)

// at runs fs concurrently.
func at(fs ...func()) { testkit.Together(len(fs), func(i int) { fs[i]() }) }

// TestColumnsInParallel: goroutines may work on different columns, and on parts of one
// column, under AoS too.
func TestColumnsInParallel(t *testing.T) {
	type body struct {
		Name  string
		In    nested
		small [4]uint8
	}
	each(t, func(t *testing.T, l table.Layout) {
		tb := of[int, body](l)
		const n = 1000
		for i := range n {
			tb.Add(i, body{})
		}
		name := table.Column(tb, func(r *body) *string { return &r.Name })
		inner := table.Column(tb, func(r *body) *string { return &r.In.S })
		small := table.Column(tb, func(r *body) *uint8 { return &r.small[0] })
		next := table.Column(tb, func(r *body) *uint8 { return &r.small[1] })
		span := func(from, to table.Index, f func(i table.Index)) func() {
			return func() {
				for i := from; i < to; i++ {
					f(i)
				}
			}
		}
		rename := func(i table.Index) { *name.At(i) = strconv.Itoa(int(i)) }
		at(span(0, n/2, rename), span(n/2, n, rename),
			span(0, n, func(i table.Index) { *inner.At(i) = strconv.Itoa(int(i)) }),
			span(0, n, func(i table.Index) { *small.At(i) = uint8(i) }),
			span(0, n, func(i table.Index) { *next.At(i) = uint8(i) + 1 }))
		for i, r := range tb.All() {
			require.Equal(t, body{strconv.Itoa(i), nested{S: strconv.Itoa(i)}, [4]uint8{uint8(i), uint8(i) + 1}}, r)
		}
	})
}
