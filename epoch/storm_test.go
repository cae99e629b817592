package epoch_test

import (
	"runtime"
	"testing"
	"time"

	"go.uber.org/atomic"

	"coatcheck/epoch"
	"coatcheck/internal/check/storm"
)

// node is the one node of a structure. life counts its incarnations: a reader that sees it
// change under a guard has seen a node that was reused too early.
type node struct {
	stamp uint64
	life  atomic.Uint32
}

// pins are the two kinds of pin.
var pins = []func(*epoch.Domain) epoch.Guard{(*epoch.Domain).Pin, (*epoch.Domain).PinBrief}

// TestStormReusesNothingUnderAPin runs writers that unlink, retire and reuse nodes, and
// readers that check that what they retire waits for them, and that no node changes. Domains
// have few cells, so that blocks are appended meanwhile, or so many that scans take long.
func TestStormReusesNothingUnderAPin(t *testing.T) {
	for name, size := range map[string]int{"few cells": 0, "many cells": 8192} {
		t.Run(name, func(t *testing.T) {
			old := runtime.GOMAXPROCS(8)
			defer runtime.GOMAXPROCS(old)
			d := new(epoch.Domain)
			d.Init(size)
			guards := make([]epoch.Guard, size) // use them all, so that scans visit them
			for i := range guards {
				guards[i] = d.Pin()
			}
			for i := range guards {
				guards[i].Unpin()
			}
			runStorm(t, d)
		})
	}
}

func runStorm(t *testing.T, d *epoch.Domain) {
	const nodes = 4
	var links [nodes]atomic.Pointer[node]
	for i := range links {
		links[i].Store(new(node))
	}
	s := storm.New(t)
	s.Go(2, func(h *storm.Hand) {
		var limbo []*node
		for h.Running() {
			n := new(node)
			if len(limbo) > 0 && d.Passed(limbo[0].stamp) {
				n, limbo = limbo[0], limbo[1:]
				n.life.Inc() // a reader that still reads n sees this
				h.Did(storm.Inserted, 1)
			}
			was := links[h.IntN(nodes)].Swap(n)
			was.stamp = d.Retire()
			limbo = append(limbo, was)
			h.Did(storm.Removed, 1)
			if len(limbo) > 100 {
				runtime.Gosched()
			}
		}
	})
	s.Go(1, func(h *storm.Hand) { // the epoch advances during each scan
		for h.Running() {
			d.Retire()
			g := d.PinBrief()
			g.Unpin()
			if h.Chance(64) {
				runtime.Gosched()
			}
		}
	})
	s.Go(4, func(h *storm.Hand) {
		last := uint64(0)
		for h.Running() {
			g := pins[h.IntN(2)](d)
			e := d.Epoch()
			if e < last {
				s.Failf("the epoch went back from %d to %d", last, e)
			}
			last = e
			n := links[h.IntN(nodes)].Load()
			life := n.life.Load()
			for range 1 + h.IntN(8) {
				if h.Chance(32) {
					time.Sleep(time.Duration(h.IntN(500)) * time.Microsecond)
				}
				if h.Chance(8) && d.Passed(d.Retire()) {
					s.Failf("under a pin of epoch %d or before a stamp has passed", e)
				}
				if now := n.life.Load(); now != life {
					s.Failf("a node was reused under a guard: life %d became %d", life, now)
				}
				h.Did(storm.Read, 1)
			}
			g.Unpin()
		}
	})
	s.Run(storm.Least{storm.Inserted: 100, storm.Removed: 100, storm.Read: 1000})
}
