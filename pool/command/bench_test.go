package command_test

import (
	"fmt"
	"sync"
	"testing"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/command"
)

// The benchmarks compare the Buffer with baselines on the same work in one run:
//
//	go test -run xxx -bench . -benchtime 1x ./pool/command
//
// prints, for each pair, ns/op of the Buffer, base-ns/op of the baseline, and their
// ratio: below 1 the Buffer is faster. An operation is an insertion and a removal, unless
// the name says otherwise. Package testkit tells how it is measured.

// closures is what programmers write to defer changes of a pool: a list of functions under
// a mutex. It gives no handle before the end of the frame, and allows no removal of what
// the frame inserts.
type closures struct {
	mu   sync.Mutex
	todo []func()
}

func (c *closures) later(f func()) {
	c.mu.Lock()
	c.todo = append(c.todo, f)
	c.mu.Unlock()
}

func (c *closures) run() {
	c.mu.Lock()
	todo := c.todo
	c.todo = nil
	c.mu.Unlock()
	for _, f := range todo {
		f()
	}
	clear(todo)
	c.mu.Lock()
	c.todo = todo[:0]
	c.mu.Unlock()
}

// item is the value of the benchmarks: 16 bytes without pointers.
type item struct{ id, payload uint64 }

// perFrame is how many insertions, and as many removals, a frame has.
const perFrame = 1000

type name = pool.Handle[item]

// frames returns the work of frames. Each removes what the previous one inserted.
func frames(insert func(v item, to *name), remove func(name), end func()) testkit.Work {
	hs := make([]name, 0, perFrame)
	return func(n int) {
		for ; n > 0; n -= perFrame {
			testkit.Each(hs, remove)
			hs = hs[:min(n, perFrame)]
			for i := range hs {
				insert(item{uint64(i), 1}, &hs[i])
			}
			end()
		}
	}
}

func BenchmarkFrame(b *testing.B) {
	buffered := func() testkit.Work {
		buf := command.New(pool.Must[item](nil))
		return frames(func(v item, to *name) { *to, _ = buf.Insert(v) }, buf.Remove, func() { buf.Apply() })
	}
	b.Run("impl=buffer/base=closures", func(b *testing.B) {
		p, c := pool.Must[item](nil), new(closures)
		testkit.Versus(b, buffered(), frames(func(v item, to *name) {
			c.later(func() { *to, _ = p.Insert(v) })
		}, func(h name) {
			c.later(func() { p.Remove(h) })
		}, c.run))
	})
	b.Run("impl=buffer/base=worker", func(b *testing.B) {
		w := pool.Must[item](nil).Worker()
		defer w.Close()
		testkit.Versus(b, buffered(), frames(func(v item, to *name) { *to, _ = w.Insert(v) }, func(h name) { w.Remove(h) }, func() {}))
	})
}

// BenchmarkInsert is an insertion alone, recorded and applied, against one at once, and
// against a reservation that is appended to a list and committed. Values are removed
// between the rounds, which is not counted. The Buffer's figure includes the garbage
// collections that the Reserver's blocks cause.
func BenchmarkInsert(b *testing.B) {
	const n = 64 * perFrame
	p := pool.Must[item](nil)
	hs := make([]name, n)
	round := func(insert func(v item, to *name), apply func()) func() float64 {
		return func() float64 {
			took := testkit.Timed(func() {
				for i := range hs {
					if insert(item{uint64(i), 1}, &hs[i]); i%perFrame == perFrame-1 {
						apply()
					}
				}
			})
			if p.RemoveBatch(hs) != n {
				b.Fatal("values are missing")
			}
			return took / n
		}
	}
	buf := command.New(p)
	buffered := round(func(v item, to *name) { *to, _ = buf.Insert(v) }, func() { buf.Apply() })
	var rs []*pool.Reservation[item]
	for base, alone := range map[string]func() float64{
		"pool": round(func(v item, to *name) { *to, _ = p.Insert(v) }, func() {}),
		"reserve": round(func(v item, to *name) {
			r, _ := p.Reserve()
			*r.Value() = v
			*to = r.Handle()
			rs = append(rs, r)
		}, func() {
			testkit.Each(rs, func(r *pool.Reservation[item]) { r.Commit() })
			clear(rs)
			rs = rs[:0]
		}),
	} {
		b.Run("impl=buffer/base="+base, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				testkit.Compare(b, 31, 1, buffered, alone)
			}
		})
	}
}

// BenchmarkRecorders compares goroutines that share a Buffer with goroutines that have
// one each, and both with closures in one list. Each discards or runs its commands from
// time to time.
func BenchmarkRecorders(b *testing.B) {
	p := pool.Must[item](nil)
	often := func(record func(i int), end func()) testkit.Work {
		return func(n int) {
			for i := range n {
				if record(i); i%perFrame == 0 {
					end()
				}
			}
			end()
		}
	}
	var c closures
	for _, g := range []int{1, 2} {
		run := func(name string, subject, base func() testkit.Work) {
			b.Run(fmt.Sprintf("%s/goroutines=%d", name, g), func(b *testing.B) {
				testkit.Versus(b, testkit.On(g, subject), testkit.On(g, base))
			})
		}
		shared := command.New(p)
		removals := func(buf *command.Buffer[item]) testkit.Work {
			return often(func(i int) { buf.Remove(name(i)) }, func() { buf.Discard() })
		}
		one := func() testkit.Work { return removals(shared) }
		run("verb=Remove/impl=own/base=shared", func() testkit.Work { return removals(command.New(p)) }, one)
		run("verb=Remove/impl=shared/base=closures", one, func() testkit.Work {
			return often(func(i int) { c.later(func() { p.Remove(name(i)) }) }, c.run)
		})
	}
}
