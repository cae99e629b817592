//go:build !race

package slots_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/shard/slots"
)

// chainModel is a chain, and its slots in their order.
type chainModel struct {
	slots.Chain
	want      []uint32
	indexOnly bool // the head has no generation
}

// chains are some of a table, and the slots that are in none.
type chains struct {
	table *slots.Table
	rnd   *rand.Rand
	all   [3]chainModel
	spare []uint32
}

// requireEqual requires that each chain has its slots, and knows of its last one what that says. An empty one keeps nothing.
func (m *chains) requireEqual(t *testing.T) {
	t.Helper()
	for k := range m.all {
		c := &m.all[k]
		require.EqualValues(t, len(c.want), c.N)
		if c.N == 0 {
			require.Equal(t, slots.Chain{}, c.Chain)
			require.Equal(t, uint32(slots.None), c.Top())
			continue
		}
		require.Equal(t, c.want[0], c.Top())
		for j, i := range c.want {
			word := m.table.Slot(i).Word.Load()
			if j == 0 && !c.indexOnly {
				require.Equal(t, slots.Generation(word), slots.Generation(c.First))
			}
			if j < len(c.want)-1 {
				require.Equal(t, c.want[j+1], slots.Low(word))
			} else if c.Last == nil {
				require.Equal(t, uint32(slots.None), slots.Low(word))
			} else {
				require.Equal(t, m.table.Slot(i), c.Last)
				require.Equal(t, slots.Pack(slots.Generation(word), i), c.Tail)
				require.Equal(t, slots.Low(word), c.Next)
			}
		}
	}
}

// vacant returns a slot of no chain, whose word has a link.
func (m *chains) vacant(link uint32) (slot *slots.Hook, i uint32, word uint64) {
	k := m.rnd.IntN(len(m.spare))
	i = m.spare[k]
	m.spare = slices.Delete(m.spare, k, k+1)
	slot, word = m.table.Slot(i), slots.Pack(2+2*m.rnd.Uint32N(1000), link)
	slot.Set(word)
	return slot, i, word
}

func (m *chains) step(t *testing.T) {
	k := m.rnd.IntN(len(m.all))
	c, o := &m.all[k], &m.all[(k+1)%len(m.all)]
	some := len(c.want) > 0
	if some && c.Last == nil && m.rnd.IntN(2) == 0 {
		c.FindLast(m.table)
	}
	known := c.Last != nil
	switch op := m.rnd.IntN(9); {
	case op == 0 && len(m.spare) > 0 && (known || !some):
		slot, i, word := m.vacant(m.rnd.Uint32N(100))
		c.Append(slot, i, word)
		c.want = append(c.want, i)
		c.indexOnly = c.indexOnly && some
	case op == 1 && len(m.spare) > 0:
		slot, i, word := m.vacant(c.Top())
		c.NoteFirst(slot, i, word)
		c.want, c.indexOnly = slices.Insert(c.want, 0, i), false
	case op == 2 && (known || !some):
		if c.Concat(&o.Chain); !some {
			c.indexOnly = o.indexOnly
		}
		c.want = append(c.want, o.want...)
		*o = chainModel{}
	case op == 3 && some:
		slot, i, word := c.TakeFirst(m.table)
		require.Equal(t, c.want[0], i)
		require.Equal(t, m.table.Slot(i), slot)
		require.Equal(t, slot.Word.Load(), word)
		c.want, c.indexOnly = c.want[1:], true
		m.spare = append(m.spare, i)
	case op == 4 && some:
		n := 1 + m.rnd.IntN(len(c.want)+1)
		part := chainModel{Chain: c.TakePart(m.table, uint32(n)), want: slices.Clone(c.want[:min(n, len(c.want))])}
		require.Equal(t, uint32(slots.None), part.Next)
		require.True(t, c.N == 0 || c.Last == nil || c.Next == slots.None)
		c.want, c.indexOnly = slices.Clone(c.want[len(part.want):]), false
		if len(o.want) == 0 {
			*o = part
			break
		}
		part.Concat(&c.Chain)
		c.Chain, c.want = part.Chain, append(part.want, c.want...)
	case op == 5 && some:
		c.Reverse(m.table)
		slices.Reverse(c.want)
		require.Equal(t, uint32(slots.None), c.Next)
		c.indexOnly = false
	case op == 6 && some:
		c.Finish(m.table)
		require.True(t, !known || c.Next == slots.None)
		c.indexOnly = false
	case op == 7 && known: // as one of a snapshot
		c.Link(slots.None)
		c.Last = nil
	case op == 8 && known:
		c.Link(m.rnd.Uint32N(100))
	}
}

// TestChainsMatchLists, whatever is put into them and taken out.
func TestChainsMatchLists(t *testing.T) {
	const total = 20
	rnd := testkit.Rand(t)
	for range testkit.Long(100) {
		table := new(slots.Table)
		table.Init(slots.Setup{Layout: slots.LayoutOf[uint64](false, nil), Slots: total, Pages: slots.PageSizes{Unit: 1, Page: 2, Most: 3}, Origin: 1})
		table.Provide(total)
		m := &chains{table: table, rnd: rnd}
		for i := range uint32(total) {
			m.spare = append(m.spare, i)
		}
		for range 200 {
			m.step(t)
			m.requireEqual(t)
		}
	}
}
