// Package metricstest has a pool for the tests of both collectors.
package metricstest

import (
	"context"
	"testing"

	"coatcheck/pool"
	"coatcheck/pool/poolhttp"
)

// Open registers a pool in which most figures differ, and returns them. They do not
// change until the end of the test.
func Open(t *testing.T, name string) pool.Stats {
	t.Helper()
	p := pool.Must(&pool.Options[int]{Shards: 1, Capacity: 5000})
	poolhttp.Register(name, p)
	for range 5001 {
		_, _ = p.Insert(0) // the last is refused
	}
	g := p.Pin()
	p.Clear()
	for range 2 {
		_, _ = p.Insert(0) // refused, since all wait for the guard
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	for range 3 {
		_, _ = p.InsertWait(done, 0) //coatvet:ignore done has ended, so it is refused at once
	}
	g.Unpin()
	_ = p.Synchronize(context.Background())
	w := p.Worker()
	t.Cleanup(w.Close)
	var hs []pool.Handle[int]
	for range 20 {
		h, _ := p.Insert(0)
		hs = append(hs, h)
	}
	ref, _ := p.Hold(hs[0])
	t.Cleanup(func() { ref.Release() })
	for range 2 {
		r, _ := p.Reserve()
		t.Cleanup(func() { r.Cancel() })
	}
	for range 4 {
		g := p.Pin()
		t.Cleanup(func() { g.Unpin() })
	}
	for range 3 {
		_, _ = w.Insert(1)
	}
	p.RemoveBatch(hs[1:10])
	return p.Stats()
}
