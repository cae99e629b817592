package linearize

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/shard"
)

// TestLayoutsReachTheirLimits requires that histories reuse slots, exhaust slots whose
// generations are nearly used up, cross pages, and fill small pools.
func TestLayoutsReachTheirLimits(t *testing.T) {
	page := uint32(1) << shard.PageShift(unsafe.Sizeof(shard.Slot[Value]{}), shard.MaxSlots, false)
	require.LessOrEqual(t, page, uint32(32), "slots in a page")
	for _, l := range Layouts {
		var last, next, pages, full, lives int
		for seed := range uint64(3) {
			h := Plan{l, 8, DefaultOps, seed + 1}.Run(Pool)
			full += h.Full
			for _, r := range h.Records {
				if r.Effect != Insert && r.Effect != Commit {
					continue
				}
				lives++
				if r.Handle.Generation() == shard.LastGeneration {
					last++
				}
				if r.Handle.Generation() > h.Plan.origin()|1 {
					next++
				}
				pages = max(pages, int(r.Handle.Index()/page)+1)
			}
		}
		t.Logf("%-17s %6d lives, %6d in slots used before, %4d last ones, %d pages, %5d insertions found no slot", l.Name, lives, next, last, pages, full)
		assert.NotZero(t, next, "%s: no slot was used twice", l.Name)
		if l.Origin != 0 {
			assert.NotZero(t, last, "%s: no slot reached its last life", l.Name)
		}
		if slots := l.Capacity; slots == 0 || slots >= 2*int(page) {
			assert.Greater(t, pages, 1, "%s: no history crossed a page", l.Name)
		}
		if l.Capacity > 0 && l.Capacity <= 16 {
			assert.NotZero(t, full, "%s: the pool was never full", l.Name)
		}
	}
}
