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

// fill returns a function that sets a field of each record i to of(i).
func fill[F any, K comparable, R any](tb *table.Table[K, R], field func(*R) *F, of func(i int) F) func() {
	return func() {
		for i, x := range table.Column(tb, field).All() {
			*x = of(int(i))
		}
	}
}

// TestColumnsInParallel: goroutines may work on different columns, and on parts of one
// column, under AoS too.
func TestColumnsInParallel(t *testing.T) {
	type body struct {
		A, B  int
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
		half := func(from, to int) func() {
			b := table.Column(tb, func(r *body) *int { return &r.B })
			return func() {
				for i := from; i < to; i++ {
					*b.At(table.Index(i)) += i
				}
			}
		}
		at(half(0, n/2), half(n/2, n),
			fill(tb, func(r *body) *int { return &r.A }, func(i int) int { return i }),
			fill(tb, func(r *body) *string { return &r.Name }, strconv.Itoa),
			fill(tb, func(r *body) *string { return &r.In.S }, strconv.Itoa),
			fill(tb, func(r *body) *uint8 { return &r.small[0] }, func(i int) uint8 { return uint8(i) }),
			fill(tb, func(r *body) *uint8 { return &r.small[1] }, func(i int) uint8 { return uint8(i) + 1 }))
		for i, r := range tb.All() {
			require.Equal(t, body{i, i, strconv.Itoa(i), nested{S: strconv.Itoa(i)}, [4]uint8{uint8(i), uint8(i) + 1}}, r)
		}
	})
}
