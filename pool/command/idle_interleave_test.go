//go:build interleave

package command

import (
	"coatcheck/internal/check/interleave"
	"coatcheck/pool"
)

// idle is a scenario: an Apply that finds nothing to do returns once what others have taken is live, so
// a goroutine that knows what was recorded finds it after an Apply. That holds also if an earlier Apply ends
// meanwhile.
func idle(r *interleave.Run) {
	p := pool.Must(&pool.Options[value]{Capacity: 4, Shards: 1, Origin: 1})
	b := New(p)
	var recorded []pool.Handle[value]
	insert := func() {
		h, err := b.Insert(value{})
		if err != nil {
			r.Failf("%v", err)
		}
		recorded = append(recorded, h)
	}
	apply := func(th *interleave.Thread) {
		known := recorded
		th.Begin("Apply")
		b.Apply()
		th.End()
		for _, h := range known {
			if !p.Contains(h) {
				r.Failf("%v was recorded before this Apply, and is not live after it", h)
			}
		}
	}
	insert()
	r.Go("one", 0, func(th *interleave.Thread) {
		apply(th)
		apply(th)
	})
	r.Go("another", 1, func(th *interleave.Thread) {
		th.Begin("Insert")
		insert()
		th.End()
		apply(th)
	})
}
