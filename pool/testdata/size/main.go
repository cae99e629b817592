// Command size uses every verb of a pool, for one type of values, or with the build tag further
// for three. TestFurtherTypesCostLittleCode compares the sizes of the two programs.
package main

import (
	"bytes"
	"context"

	"coatcheck/pool"
)

func main() { verbs([1]uint64{}) }

func verbs[T any](v T) {
	ctx := context.Background()
	p := pool.Must(&pool.Options[T]{Capacity: 100})
	init := func(_ pool.Handle[T], to *T) { *to = v }
	h, _ := p.Insert(v)
	_, _ = p.InsertFunc(init)
	_, _ = p.Get(h)
	p.View(h, func(*T) {})
	p.Contains(h)
	p.Pointer(h)
	p.Remove(h)
	p.Take(h)

	g := p.Pin()
	g.Pointer(h)
	g.Unpin()
	for range p.All() {
	}
	_ = p.Each(ctx, 1, func(pool.Handle[T], *T) error { return nil })

	w := p.Worker()
	h, _ = w.Insert(v)
	w.Remove(h)
	w.Take(h)
	w.Close()

	r, _ := p.Reserve()
	*r.Pointer() = v
	h = r.Commit()
	r, _ = p.Reserve()
	r.Cancel()
	if k, ok := p.Hold(h); ok {
		*k.Pointer() = v
		k.Release()
	}

	var b bytes.Buffer
	_, _ = p.WriteTo(&b)
	_, _ = pool.ReadFrom[T](&b, nil)
	for range p.Drain() {
	}
	p.RemoveBatch([]pool.Handle[T]{h})
	p.Clear()
	println(p.Len(), p.Stats().Live, p.Trim(), p.Explain(h), p.ExplainOpen(), p.Synchronize(ctx))
}
