//go:build coatcheck_debug && !interleave

package pool_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/pool"
)

// Each Reservation of a block has a story of its own.
func TestExplainTellsAReserversReservations(t *testing.T) {
	p := tiny(t, &pool.Options[int]{Shards: 1})
	v := p.Reserver()
	var r *pool.Reservation[int]
	kept := creator(func() pool.Handle[int] { r, _ = v.Reserve(); return r.Handle() })
	requireStory(t, paragraphs(p.Explain(kept))[1], "reserved", "Reserve", "creator")
	require.Contains(t, p.ExplainOpen(), kept.String()+", reserved at ")
	ender(r.Cancel)
	parts := paragraphs(p.Explain(kept))
	requireStory(t, parts[1], "reserved", "Reserve", "creator")
	requireStory(t, parts[2]+"\n", "cancelled", "Cancel", "ender")
	r = nil

	var h pool.Handle[int]
	apart(func() { h = mustReserveFrom(t, v).Handle() })
	eventually(t, func() bool { return p.Stats().Dropped == 1 }, "dropped")
	eventually(t, func() bool { return len(paragraphs(p.Explain(h))) == 3 }, "recorded")
	requireStory(t, paragraphs(p.Explain(h))[2], "dropped, and given back", "", "")
	story := "1 dropped and left to the garbage collector\n\t" + h.String() + ", reserved at "
	eventually(t, func() bool { return strings.HasPrefix(p.ExplainOpen(), story) }, "told")
}
