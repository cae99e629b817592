package table_test

import (
	"fmt"
	"slices"
	"testing"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/table"
)

// The benchmarks compare a table with baselines on the same work in one run. Rounds of
// the two alternate, so that other load hits both alike, and the ratio is the median over
// the rounds.
//
//	go test -run xxx -bench . -benchtime 1x ./pool/table
//
// prints, for each pair, ns/op of the table, base-ns/op of the baseline, and their ratio:
// below 1 the table is faster.

type work = testkit.Work

var (
	versus     = testkit.Versus
	versusEach = testkit.VersusEach
)

var sink uint64

// scan is work that sums one field of all records.
func scan(sum func() uint64) work {
	return func(n int) {
		for range n {
			sink += sum()
		}
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
func sumAt(v table.View[uint64]) func() uint64 {
	return func() (sum uint64) {
		for i := range v.Len() {
			sum += *v.At(table.Index(i))
		}
		return sum
	}
}

//go:noinline
func sumSlice(s []uint64) uint64 {
	sum := uint64(0)
	for _, x := range s {
		sum += x
	}
	return sum
}

// BenchmarkScan sums one field of 8 bytes of records of 128.
func BenchmarkScan(b *testing.B) {
	for _, rows := range []int{10_000, 1_000_000} {
		column := func(l table.Layout) table.View[uint64] {
			tb := table.Must(table.New[int, wide](l))
			tb.Reserve(rows)
			for i := range rows {
				tb.Add(i, wide{A: uint64(i), E: uint64(i)})
			}
			return table.Column(tb, func(r *wide) *uint64 { return &r.E })
		}
		soa, aos := column(table.SoA), column(table.AoS)
		plain, records := make([]uint64, rows), make([]wide, rows)
		for i := range plain {
			plain[i], records[i].E = uint64(i), uint64(i)
		}
		column1, _ := soa.Slice()
		bare := func() uint64 { return sumSlice(plain) }
		for _, c := range []struct {
			name          string
			subject, base func() uint64
		}{
			{"impl=SoA.Slice/base=slice", func() uint64 { return sumSlice(column1) }, bare},
			{"impl=SoA.All/base=slice", sumAll(soa), bare},
			{"impl=SoA.At/base=slice", sumAt(soa), bare},
			{"impl=SoA.All/base=AoS.All", sumAll(soa), sumAll(aos)},
			{"impl=SoA.Slice/base=AoS.All", func() uint64 { return sumSlice(column1) }, sumAll(aos)},
			{"impl=AoS.All/base=structs", sumAll(aos), func() (sum uint64) {
				for i := range records {
					sum += records[i].E
				}
				return sum
			}},
		} {
			b.Run(fmt.Sprintf("%s/rows=%d", c.name, rows), func(b *testing.B) {
				versusEach(b, rows, scan(c.subject), scan(c.base))
			})
		}
	}
}

// BenchmarkScanInALiteral is the same in function literals that are inlined into others.
// The compiler leaves the calls in an inlined copy of a literal as they are. So it calls
// All's body for each record, as it does slices.All's, and it calls At; Slice is called
// once.
func BenchmarkScanInALiteral(b *testing.B) {
	const rows = 10_000
	tb := table.Must(table.New[int, wide](table.SoA))
	for i := range rows {
		tb.Add(i, wide{E: uint64(i)})
	}
	plain, column := make([]uint64, rows), table.Column(tb, func(r *wide) *uint64 { return &r.E })
	var all, at, slice, ofSlice func() uint64
	func() {
		all = func() (sum uint64) {
			for _, x := range column.All() {
				sum += *x
			}
			return sum
		}
		at = func() (sum uint64) {
			for i := range column.Len() {
				sum += *column.At(table.Index(i))
			}
			return sum
		}
		slice = func() (sum uint64) {
			xs, _ := column.Slice()
			for _, x := range xs {
				sum += x
			}
			return sum
		}
		ofSlice = func() (sum uint64) {
			for _, x := range slices.All(plain) {
				sum += x
			}
			return sum
		}
	}()
	base := scan(func() uint64 { return sumSlice(plain) })
	for _, c := range []struct {
		name string
		sum  func() uint64
	}{{"All", all}, {"At", at}, {"Slice", slice}, {"slices.All", ofSlice}} {
		b.Run("impl="+c.name+"/base=slice", func(b *testing.B) { versusEach(b, rows, scan(c.sum), base) })
	}
}

var bodyOf = func(i int) bodyRecord {
	return bodyRecord{X: float64(i), Mass: 1, Name: "body", Parent: &parent, Children: [2]uint32{uint32(i), 2}}
}

var parent int

// tableOf returns a table of records with keys from 0.
func tableOf(l table.Layout, rows int) *table.Table[uint64, bodyRecord] {
	tb := table.Must(table.New[uint64, bodyRecord](l))
	for i := range rows {
		tb.Add(uint64(i), bodyOf(i))
	}
	return tb
}

func handsOf(rows int) (*handSoA, *handAoS[bodyRecord]) {
	s, a := &handSoA{index: map[uint64]int{}}, &handAoS[bodyRecord]{index: map[uint64]int{}}
	for i := range rows {
		s.Add(uint64(i), bodyOf(i))
		a.Add(uint64(i), bodyOf(i))
	}
	return s, a
}

// hand is the interface of the baselines.
type hand interface {
	Add(k uint64, r bodyRecord) bool
	Remove(k uint64) bool
	Copy(k uint64) (bodyRecord, bool)
}

// beside runs f for either layout with its baseline, both with that many rows.
func beside(b *testing.B, rows int, f func(b *testing.B, tb *table.Table[uint64, bodyRecord], base hand)) {
	s, a := handsOf(rows)
	b.Run(fmt.Sprintf("impl=SoA/base=slices/rows=%d", rows), func(b *testing.B) { f(b, tableOf(table.SoA, rows), s) })
	b.Run(fmt.Sprintf("impl=AoS/base=structs/rows=%d", rows), func(b *testing.B) { f(b, tableOf(table.AoS, rows), a) })
}

// key spreads i over n keys.
func key(i, n int) uint64 { return uint64(i) * 0x9e3779b97f4a7c15 >> 20 % uint64(n) }

// BenchmarkReplace removes one record of many and adds it again.
func BenchmarkReplace(b *testing.B) {
	for _, rows := range []int{1000, 100_000} {
		beside(b, rows, func(b *testing.B, tb *table.Table[uint64, bodyRecord], base hand) {
			r := bodyOf(1)
			versus(b, func(n int) {
				for i := range n {
					tb.Remove(key(i, rows))
					tb.Add(key(i, rows), r)
				}
			}, func(n int) {
				for i := range n {
					base.Remove(key(i, rows))
					base.Add(key(i, rows), r)
				}
			})
		})
	}
}

func BenchmarkCopy(b *testing.B) {
	for _, rows := range []int{1000, 100_000} {
		beside(b, rows, func(b *testing.B, tb *table.Table[uint64, bodyRecord], base hand) {
			versus(b, func(n int) {
				for i := range n {
					r, _ := tb.Copy(key(i, rows))
					sink += uint64(r.Children[0])
				}
			}, func(n int) {
				for i := range n {
					r, _ := base.Copy(key(i, rows))
					sink += uint64(r.Children[0])
				}
			})
		})
	}
}

// BenchmarkFill builds a table of 10,000 records.
func BenchmarkFill(b *testing.B) {
	const rows = 10_000
	ks, rs := make([]uint64, rows), make([]bodyRecord, rows)
	for i := range ks {
		ks[i], rs[i] = uint64(i), bodyOf(i)
	}
	byHand := map[table.Layout]func() hand{
		table.SoA: func() hand { return &handSoA{index: map[uint64]int{}} },
		table.AoS: func() hand { return &handAoS[bodyRecord]{index: map[uint64]int{}} },
	}
	for _, l := range layouts {
		base := func(n int) {
			for range n {
				h := byHand[l]()
				for i, k := range ks {
					h.Add(k, rs[i])
				}
			}
		}
		b.Run(fmt.Sprintf("impl=%v.Add/base=append", l), func(b *testing.B) {
			versusEach(b, rows, func(n int) {
				for range n {
					tb := table.Must(table.New[uint64, bodyRecord](l))
					for i, k := range ks {
						tb.Add(k, rs[i])
					}
				}
			}, base)
		})
		b.Run(fmt.Sprintf("impl=%v.AddBatch/base=append", l), func(b *testing.B) {
			versusEach(b, rows, func(n int) {
				for range n {
					tb := table.Must(table.New[uint64, bodyRecord](l))
					tb.AddBatch(ks, rs)
				}
			}, base)
		})
	}
}

// BenchmarkWide adds and removes a wide record of plain words at the end, where the
// columns of a table lie a multiple of a page apart.
func BenchmarkWide(b *testing.B) {
	for _, l := range layouts {
		b.Run(fmt.Sprintf("impl=%v/base=structs", l), func(b *testing.B) {
			tb := table.Must(table.New[uint64, wide](l))
			base := &handAoS[wide]{index: map[uint64]int{}}
			for i := range 1000 {
				tb.Add(uint64(i), wide{})
				base.Add(uint64(i), wide{})
			}
			versus(b, func(n int) {
				for i := range n {
					tb.Remove(key(i, 1000))
					tb.Add(key(i, 1000), wide{A: uint64(i)})
				}
			}, func(n int) {
				for i := range n {
					base.Remove(key(i, 1000))
					base.Add(key(i, 1000), wide{A: uint64(i)})
				}
			})
		})
	}
}

// BenchmarkLookup looks up records by handles. The baseline is a map of handles to rows,
// which finds stale ones as well.
func BenchmarkLookup(b *testing.B) {
	for _, rows := range []int{1000, 100_000} {
		p := pool.Must[int](nil)
		tb := table.Must(table.ForHandles[int, wide](p, table.SoA))
		rowsOf := map[handle]table.Index{}
		var hs []handle
		for i := range rows {
			h, err := p.Insert(i)
			if err != nil {
				b.Fatal(err)
			}
			rowsOf[h] = tb.Add(h, wide{E: uint64(i)})
			hs = append(hs, h)
		}
		b.Run(fmt.Sprintf("impl=ForHandles/base=map/rows=%d", rows), func(b *testing.B) {
			versus(b, func(n int) {
				for i := range n {
					sink += uint64(tb.Lookup(hs[key(i, rows)]))
				}
			}, func(n int) {
				for i := range n {
					sink += uint64(rowsOf[hs[key(i, rows)]])
				}
			})
		})
	}
}

// BenchmarkRemoveDead removes the dead, one in a hundred, of 100,000.
func BenchmarkRemoveDead(b *testing.B) {
	const rows = 100_000
	p := pool.Must[int](nil)
	var hs []handle
	for i := range rows {
		h, err := p.Insert(i)
		if err != nil {
			b.Fatal(err)
		}
		hs = append(hs, h)
	}
	tb := table.Must(table.ForHandles[int, wide](p, table.SoA))
	tb.AddBatch(hs, make([]wide, rows))
	b.Run("impl=RemoveDead/base=Contains", func(b *testing.B) {
		versusEach(b, rows, func(n int) {
			for range n {
				for i := 0; i < rows; i += 100 {
					p.Remove(hs[i])
					hs[i], _ = p.Insert(i)
				}
				tb.RemoveDead()
				for i := 0; i < rows; i += 100 {
					tb.Add(hs[i], wide{})
				}
			}
		}, func(n int) {
			for range n {
				for _, h := range hs {
					if p.Contains(h) {
						sink++
					}
				}
			}
		})
	})
}
