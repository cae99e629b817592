//go:build interleave

package explore_test

import (
	"fmt"

	"coatcheck/epoch"
	"coatcheck/internal/check/interleave"
)

// behindTheScan has a guard that is pinned where a scan has been, while it goes on, and something that is
// unlinked under the guard. Then another guard begins the next epoch. In a pool so small as those of
// scenarios each scan is paid for, so nothing there depends on what an older one knows.
func behindTheScan(r *interleave.Run) {
	d := epoch.New()
	var f epoch.Frontier
	f.Init(d, true)
	var late uint64
	r.Go("A", 0, func(t *interleave.Thread) {
		t.Begin("scan")
		f.Oldest(0)
		t.End()
	})
	r.Go("B", 0, func(t *interleave.Thread) {
		t.Begin("pin, unlink, pin")
		d.Pin()
		late = d.Stamp()
		d.Pin()
		t.End()
	})
	r.Finally(func() error {
		f.Mix() // the owner has what was unlinked
		if known := f.Known(); late < known {
			return fmt.Errorf("all below %d has passed, it says; a guard is pinned that may have seen what has the stamp %d", known, late)
		}
		return nil
	})
}
