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

// frames returns the work of frames. Each removes the handles that the previous one
// returned, and returns the handles of k insertions.
func frames(frame func(k int, old []pool.Handle[item]) []pool.Handle[item]) testkit.Work {
	old := make([]pool.Handle[item], 0, perFrame)
	return func(n int) {
		for ; n > 0; n -= perFrame {
			old = frame(min(n, perFrame), old)
		}
	}
}

// verbs are the methods that a Pool and a Worker have in common.
type verbs interface {
	Insert(item) (pool.Handle[item], error)
	Remove(pool.Handle[item]) bool
}

func atOnce(p verbs) testkit.Work {
	return frames(func(k int, old []pool.Handle[item]) []pool.Handle[item] {
		for _, h := range old {
			p.Remove(h)
		}
		old = old[:0]
		for i := range k {
			h, _ := p.Insert(item{uint64(i), 1})
			old = append(old, h)
		}
		return old
	})
}

func buffered() testkit.Work {
	b := command.New(pool.Must[item](nil))
	return frames(func(k int, old []pool.Handle[item]) []pool.Handle[item] {
		for _, h := range old {
			b.Remove(h)
		}
		old = old[:0]
		for i := range k {
			h, _ := b.Insert(item{uint64(i), 1})
			old = append(old, h)
		}
		b.Apply()
		return old
	})
}

func byClosures() testkit.Work {
	p := pool.Must[item](nil)
	var c closures
	return frames(func(k int, old []pool.Handle[item]) []pool.Handle[item] {
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
		return old
	})
}

func BenchmarkFrame(b *testing.B) {
	w := pool.Must[item](nil).Worker()
	defer w.Close()
	b.Run("impl=buffer/base=closures", func(b *testing.B) { testkit.Versus(b, buffered(), byClosures()) })
	b.Run("impl=buffer/base=pool", func(b *testing.B) { testkit.Versus(b, buffered(), atOnce(pool.Must[item](nil))) })
	b.Run("impl=buffer/base=worker", func(b *testing.B) { testkit.Versus(b, buffered(), atOnce(w)) })
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
	p := pool.Must[item](nil)
	buf := command.New(p)
	rs := make([]*pool.Reservation[item], 0, perFrame)
	b.Run("impl=buffer/base=reserve", func(b *testing.B) {
		testkit.Versus(b, frames(func(k int, hs []pool.Handle[item]) []pool.Handle[item] {
			for i := range k {
				h, _ := buf.Insert(item{uint64(i), 1})
				hs = append(hs, h)
			}
			buf.Apply()
			p.RemoveBatch(hs)
			return hs[:0]
		}), frames(func(k int, hs []pool.Handle[item]) []pool.Handle[item] {
			for i := range k {
				r, _ := p.Reserve()
				*r.Value() = item{uint64(i), 1}
				rs = append(rs, r)
			}
			for _, r := range rs {
				hs = append(hs, r.Commit())
			}
			p.RemoveBatch(hs)
			clear(rs)
			rs = rs[:0]
			return hs[:0]
		}))
	})
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
	removals := func(buf *command.Buffer[item]) testkit.Work {
		return often(func(i int) { buf.Remove(pool.Handle[item](i)) }, func() { buf.Discard() })
	}
	insertions := func(buf *command.Buffer[item]) testkit.Work {
		return often(func(i int) { _, _ = buf.Insert(item{uint64(i), 1}) }, func() { buf.Discard() })
	}
	var c closures
	listed := func() testkit.Work {
		return often(func(i int) { c.later(func() { p.Remove(pool.Handle[item](i)) }) }, c.run)
	}
	for _, g := range []int{1, 2} {
		run := func(name string, subject, base func() testkit.Work) {
			b.Run(fmt.Sprintf("%s/goroutines=%d", name, g), func(b *testing.B) {
				testkit.Versus(b, testkit.On(g, subject), testkit.On(g, base))
			})
		}
		shared := command.New(p)
		each := func(verb func(*command.Buffer[item]) testkit.Work) (own, one func() testkit.Work) {
			return func() testkit.Work { return verb(command.New(p)) }, func() testkit.Work { return verb(shared) }
		}
		own, one := each(insertions)
		run("verb=Insert/impl=own/base=shared", own, one)
		own, one = each(removals)
		run("verb=Remove/impl=own/base=shared", own, one)
		run("verb=Remove/impl=shared/base=closures", one, listed)
	}
}
