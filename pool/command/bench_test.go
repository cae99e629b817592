//go:build !race

package command_test

import (
	"sync"
	"testing"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/command"
)

// The benchmark compares the Buffer with a list of closures on the same work in one run:
//
//	go test -run '^$' -bench . -benchtime 1x ./pool/command
//
// prints ns/op of the Buffer, base-ns/op of the list, and their ratio: below 1 the Buffer
// is faster. An operation is an insertion and a removal. Package testkit tells how it is
// measured.

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
	buf, p, c := command.New(pool.Must[item](nil)), pool.Must[item](nil), new(closures)
	b.Run("impl=buffer/base=closures", func(b *testing.B) {
		testkit.Versus(b, frames(func(v item, to *name) { *to, _ = buf.Insert(v) }, buf.Remove, func() { buf.Apply() }),
			frames(func(v item, to *name) {
				c.later(func() { *to, _ = p.Insert(v) })
			}, func(h name) {
				c.later(func() { p.Remove(h) })
			}, c.run))
	})
}
