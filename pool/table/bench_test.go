//go:build !race

package table_test

import (
	"fmt"
	"testing"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool/table"
)

// The benchmarks compare a table with baselines on the same work in one run:
//
//	go test -run '^$' -bench . -benchtime 1x ./pool/table
//
// prints, for each pair, ns/op of the table, base-ns/op of the baseline, and their ratio:
// below 1 the table is faster. Package testkit tells how it is measured.

var sink uint64

// wide is a record of 128 bytes.
type wide struct {
	A, B, C, D, E, F, G, H uint64
	I, J, K, L, M, N, O, P uint64
}

// scan is work that sums one field of all records until it has visited n.
func scan(rows int, sum func() uint64) func(n int) int {
	return func(n int) (done int) {
		for ; done < n; done += rows {
			sink += sum()
		}
		return done
	}
}

// sumAll is the same code for either layout. It is not inlined: in an inlined copy the
// compiler would call the body of the loop.
//
//go:noinline
func sumAll(v table.View[uint64]) func() uint64 {
	return func() (sum uint64) {
		for _, x := range v.All() {
			sum += *x
		}
		return sum
	}
}

//go:noinline
func sumSlice(s []uint64) (sum uint64) {
	for _, x := range s {
		sum += x
	}
	return sum
}

// BenchmarkScan sums one field of 8 bytes of records of 128.
func BenchmarkScan(b *testing.B) {
	for _, rows := range []int{10_000, 1_000_000} {
		column := func(l table.Layout) table.View[uint64] {
			tb := of[int, wide](l)
			for i := range rows {
				tb.Add(i, wide{E: uint64(i)})
			}
			return table.Column(tb, func(r *wide) *uint64 { return &r.E })
		}
		soa, aos := column(table.SoA), column(table.AoS)
		plain, records := make([]uint64, rows), make([]wide, rows)
		for i := range plain {
			plain[i], records[i].E = uint64(i), uint64(i)
		}
		slice, _ := soa.Slice()
		bare := func() uint64 { return sumSlice(plain) }
		ofSlice := func() uint64 { return sumSlice(slice) }
		structs := func() (sum uint64) {
			for i := range records {
				sum += records[i].E
			}
			return sum
		}
		for _, c := range []struct {
			name          string
			subject, base func() uint64
		}{
			{"impl=SoA.Slice/base=slice", ofSlice, bare},
			{"impl=SoA.All/base=slice", sumAll(soa), bare},
			{"impl=SoA.All/base=AoS.All", sumAll(soa), sumAll(aos)},
			{"impl=AoS.All/base=structs", sumAll(aos), structs},
		} {
			b.Run(fmt.Sprintf("%s/rows=%d", c.name, rows), func(b *testing.B) {
				testkit.VersusCounted(b, scan(rows, c.subject), scan(rows, c.base))
			})
		}
	}
}
