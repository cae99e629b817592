package command_test

import (
	"fmt"
	"testing"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/command"
)

// The benchmarks compare the Buffer with baselines on the same work in one run. Rounds of
// the two alternate, so that other load hits both alike, and the ratio is the median over
// the rounds.
//
//	go test -run xxx -bench . -benchtime 1x ./pool/command
//
// prints, for each pair, ns/op of the Buffer, base-ns/op of the baseline, and their
// ratio: below 1 the Buffer is faster. An operation is an insertion and a removal, unless
// the name says otherwise.

type work = testkit.Work

var (
	on     = testkit.On
	versus = testkit.Versus
)

// item is the value of the benchmarks: 16 bytes without pointers.
type item struct{ id, payload uint64 }

// perFrame is how many insertions, and as many removals, a frame has.
const perFrame = 1000

// frames runs n operations as frames of perFrame. Each frame removes the values that the
// previous one inserted.
func frames(n int, frame func(k int)) {
	for ; n > 0; n -= perFrame {
		frame(min(n, perFrame))
	}
}

func buffered() work {
	p := pool.Must[item](nil)
	b := command.New(p)
	old := make([]pool.Handle[item], 0, perFrame)
	return func(n int) {
		frames(n, func(k int) {
			for _, h := range old {
				b.Remove(h)
			}
			old = old[:0]
			for i := range k {
				h, _ := b.Insert(item{uint64(i), 1})
				old = append(old, h)
			}
			b.Apply()
		})
	}
}

func byClosures() work {
	p := pool.Must[item](nil)
	var c closures
	var old []pool.Handle[item]
	return func(n int) {
		frames(n, func(k int) {
			for _, h := range old {
				c.later(func() { p.Remove(h) })
			}
			old = old[:0]
			for i := range k {
				c.later(func() {
					h, _ := p.Insert(item{uint64(i), 1})
					old = append(old, h)
				})
			}
			c.run()
		})
	}
}

func byLists() work {
	p := pool.Must[item](nil)
	var l lists[item]
	return func(n int) {
		frames(n, func(k int) {
			for _, h := range l.inserted {
				l.remove(h)
			}
			for i := range k {
				l.insert(item{uint64(i), 1})
			}
			l.run(p)
		})
	}
}

// verbs are the methods that a Pool and a Worker have in common.
type verbs interface {
	Insert(item) (pool.Handle[item], error)
	Remove(pool.Handle[item]) bool
}

func atOnce(p verbs) work {
	old := make([]pool.Handle[item], 0, perFrame)
	return func(n int) {
		frames(n, func(k int) {
			for _, h := range old {
				p.Remove(h)
			}
			old = old[:0]
			for i := range k {
				h, _ := p.Insert(item{uint64(i), 1})
				old = append(old, h)
			}
		})
	}
}

func BenchmarkFrame(b *testing.B) {
	b.Run("impl=buffer/base=closures", func(b *testing.B) { versus(b, buffered(), byClosures()) })
	b.Run("impl=buffer/base=lists", func(b *testing.B) { versus(b, buffered(), byLists()) })
	b.Run("impl=buffer/base=pool", func(b *testing.B) { versus(b, buffered(), atOnce(pool.Must[item](nil))) })
	b.Run("impl=buffer/base=worker", func(b *testing.B) {
		w := pool.Must[item](nil).Worker()
		defer w.Close()
		versus(b, buffered(), atOnce(w))
	})
}

// BenchmarkInsert is an insertion alone, recorded and applied, against one at once.
// Values are removed between the rounds, which is not counted. The Buffer's figure
// includes the garbage collections that the Reserver's blocks cause.
func BenchmarkInsert(b *testing.B) {
	const n = 64 * perFrame
	p := pool.Must[item](nil)
	buf := command.New(p)
	hs := make([]pool.Handle[item], 0, n)
	round := func(insert func(v item) (pool.Handle[item], error), apply func()) func() float64 {
		return func() float64 {
			took := testkit.Timed(func() {
				for i := range n {
					h, _ := insert(item{uint64(i), 1})
					if hs = append(hs, h); i%perFrame == perFrame-1 {
						apply()
					}
				}
			})
			if p.RemoveBatch(hs) != n {
				b.Fatal("values are missing")
			}
			hs = hs[:0]
			return took / n
		}
	}
	b.Run("impl=buffer/base=pool", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			testkit.Compare(b, 31, 1, round(buf.Insert, func() { buf.Apply() }), round(p.Insert, func() {}))
		}
	})
}

// BenchmarkReserve shows what the Buffer adds to a reservation: an insertion against a
// reservation that is appended to a list and committed. Both remove the value at once.
func BenchmarkReserve(b *testing.B) {
	b.Run("impl=buffer/base=reserve", func(b *testing.B) {
		p := pool.Must[item](nil)
		buf := command.New(p)
		hs := make([]pool.Handle[item], 0, perFrame)
		rs := make([]*pool.Reservation[item], 0, perFrame)
		versus(b, func(n int) {
			frames(n, func(k int) {
				for i := range k {
					h, _ := buf.Insert(item{uint64(i), 1})
					hs = append(hs, h)
				}
				buf.Apply()
				p.RemoveBatch(hs)
				hs = hs[:0]
			})
		}, func(n int) {
			frames(n, func(k int) {
				for i := range k {
					r, _ := p.Reserve()
					*r.Value() = item{uint64(i), 1}
					rs = append(rs, r)
				}
				for _, r := range rs {
					hs = append(hs, r.Commit())
				}
				p.RemoveBatch(hs)
				hs = hs[:0]
				clear(rs)
				rs = rs[:0]
			})
		})
	})
}

// BenchmarkRemove inserts at once, and removes a frame's values by the Buffer against one
// by one.
func BenchmarkRemove(b *testing.B) {
	b.Run("impl=buffer/base=pool", func(b *testing.B) {
		p := pool.Must[item](nil)
		buf := command.New(p)
		vs := make([]item, perFrame)
		hs := make([]pool.Handle[item], 0, perFrame)
		versus(b, func(n int) {
			frames(n, func(k int) {
				hs, _ = p.InsertBatch(vs[:k], hs[:0])
				for _, h := range hs {
					buf.Remove(h)
				}
				buf.Apply()
			})
		}, func(n int) {
			frames(n, func(k int) {
				hs, _ = p.InsertBatch(vs[:k], hs[:0])
				for _, h := range hs {
					p.Remove(h)
				}
			})
		})
	})
}

// BenchmarkRecorders compares goroutines that share a Buffer with goroutines that have
// one each, and both with closures in one list. Each discards or runs its commands from
// time to time.
func BenchmarkRecorders(b *testing.B) {
	removals := func(buf *command.Buffer[item]) work {
		return func(n int) {
			for i := range n {
				buf.Remove(pool.Handle[item](i))
				if i%perFrame == 0 {
					buf.Discard()
				}
			}
		}
	}
	insertions := func(buf *command.Buffer[item]) work {
		return func(n int) {
			for i := range n {
				_, _ = buf.Insert(item{uint64(i), 1})
				if i%perFrame == 0 {
					buf.Discard()
				}
			}
			buf.Discard()
		}
	}
	for _, g := range []int{1, 2} {
		for _, verb := range []struct {
			name string
			each func(*command.Buffer[item]) work
		}{{"Remove", removals}, {"Insert", insertions}} {
			b.Run(fmt.Sprintf("verb=%s/impl=own/base=shared/goroutines=%d", verb.name, g), func(b *testing.B) {
				p := pool.Must[item](nil)
				shared := command.New(p)
				versus(b, on(g, func() work { return verb.each(command.New(p)) }), on(g, func() work { return verb.each(shared) }))
			})
		}
		b.Run(fmt.Sprintf("verb=Remove/impl=shared/base=closures/goroutines=%d", g), func(b *testing.B) {
			p := pool.Must[item](nil)
			shared := command.New(p)
			c := new(closures)
			versus(b, on(g, func() work { return removals(shared) }), on(g, func() work {
				return func(n int) {
					for i := range n {
						c.later(func() { p.Remove(pool.Handle[item](i)) })
						if i%perFrame == 0 {
							c.run()
						}
					}
				}
			}))
		})
	}
}
