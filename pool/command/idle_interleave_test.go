//go:build interleave

package command

import (
	"coatcheck/internal/check/interleave"
	"coatcheck/pool"
)

// idle is a scenario: an Apply that finds nothing to do returns once what others have taken is live, so
// a goroutine that has recorded and applied finds its value.
func idle(r *interleave.Run) {
	p := pool.Must(&pool.Options[value]{Capacity: 4, Shards: 1, Origin: 1})
	b := New(p)
	h, err := b.Insert(value{})
	if err != nil {
		r.Failf("%v", err)
	}
	for i, name := range []string{"one", "another"} {
		r.Go(name, uint32(i), func(th *interleave.Thread) {
			th.Begin("Apply")
			b.Apply()
			th.End()
			if !p.Contains(h) {
				r.Failf("%v was recorded before this Apply, and is not live after it", h)
			}
		})
	}
}
