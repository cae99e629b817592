package workload

import (
	"fmt"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
	"coatcheck/pool"
)

// wear asks what the order of reuse costs, and what it spares.
func wear() suite.Question {
	return suite.Question{
		ID:    "Wear",
		Title: "FIFO or LIFO: what does spreading wear cost, and how far does it spread?",
		About: "One goroutine in a pool with 1,000 live values of 16 bytes. pairs inserts a value and removes it; churn replaces one of the 1,000, drawn by lot. " +
			"Wear is how many values the hottest slot held for each million insertions: the slot is retired after 2^31. rest is how many free slots FIFO keeps back (MinFree), in all of its shards, of which one goroutine mostly uses one.",
		Roles: rolesWith(nil),
		Own:   "rest",
		Charts: []suite.Chart{
			{Title: "An insertion and a removal, by order of reuse", Unit: "ns/op"},
			{Title: "Values that the hottest slot holds, for each million insertions", Unit: "lives/Mop"},
		},
		Groups: func(env suite.Env) []suite.Group {
			var groups []suite.Group
			for _, pattern := range []string{"pairs", "churn"} {
				var g suite.Group
				for _, c := range []struct {
					impl string
					rest int
				}{{peer.NamePool, 0}, {peer.NameWorker, 0}, {peer.NameFIFO, pool.DefaultMinFree}, {peer.NameFIFO, 4096}} {
					g.Cases = append(g.Cases, suite.Case{
						Impl:   c.impl,
						Params: []suite.Param{param("pattern", pattern), number("rest", c.rest)},
						Open:   func() (suite.Run, error) { return openWear(c.impl, pattern, c.rest, env.Seed) },
					})
				}
				groups = append(groups, g)
			}
			return groups
		},
	}
}

const (
	wearLive   = 1_000
	wearOrigin = 1 // the generation that every slot of the pool begins with
)

type wearValue = peer.Value[peer.Rest16]
type wearHandle = pool.Handle[wearValue]

// wearRun is churn that keeps an eye on generations.
type wearRun struct {
	pool   *pool.Pool[wearValue]
	insert func(wearValue) (wearHandle, error)
	remove func(wearHandle) bool
	end    func()

	live    [wearLive]wearHandle
	picks   []uint32 // of pattern churn
	next    uint64   // insertions so far
	hottest uint32   // the greatest generation that was seen
}

func openWear(impl, pattern string, rest int, seed uint64) (suite.Run, error) {
	opts := pool.Options[wearValue]{Capacity: wearLive + 4096, Preallocate: true, Origin: wearOrigin}
	if impl == peer.NameFIFO {
		opts.Reuse, opts.MinFree = pool.FIFO, rest
	}
	p, err := pool.New(&opts)
	if err != nil {
		return nil, err
	}
	r := &wearRun{pool: p, insert: p.Insert, remove: p.Remove, end: func() {}}
	if impl == peer.NameWorker {
		w := p.Worker()
		r.insert, r.remove, r.end = w.Insert, w.Remove, w.Close
	}
	for i := range r.live {
		if r.live[i], err = r.put(); err != nil {
			return nil, err
		}
	}
	if pattern == "churn" {
		r.picks = shuffled(1<<16, seed)
	}
	return r, nil
}

// put inserts a value and notes how often its slot was used.
func (r *wearRun) put() (wearHandle, error) {
	r.next++
	h, err := r.insert(wearValue{ID: r.next})
	r.hottest = max(r.hottest, h.Generation())
	return h, err
}

func (r *wearRun) Do(n int) (int, error) {
	for i := range n {
		var old wearHandle
		h, err := r.put()
		if err != nil {
			return i, err
		}
		if r.picks == nil {
			old = h
		} else {
			place := &r.live[r.picks[r.next%uint64(len(r.picks))]%wearLive]
			old, *place = *place, h
		}
		if !r.remove(old) {
			return i, fmt.Errorf("%v was gone before it was removed", old)
		}
	}
	return n, nil
}

// Metrics tells the wear: each life of a slot adds two to its generation.
func (r *wearRun) Metrics() map[string]float64 {
	lives := float64(r.hottest-wearOrigin)/2 + 1
	return map[string]float64{"lives/Mop": lives / float64(r.next) * 1e6}
}

func (r *wearRun) Close() error {
	r.end()
	n := 0
	for range r.pool.All() {
		n++
	}
	for _, h := range r.live {
		if !r.pool.Remove(h) {
			return fmt.Errorf("%v is gone", h)
		}
	}
	if n != wearLive || r.pool.Len() != 0 {
		return fmt.Errorf("%d values were live, not %d, and %d are left", n, wearLive, r.pool.Len())
	}
	return nil
}
