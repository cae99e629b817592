//go:build !race

package slots_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/shard/slots"
)

// modelPage is a page of a table. Without memory it has a floor.
type modelPage struct {
	first, n uint64
	floor    uint32
}

// model is a table as lists of its pages and slots.
type model struct {
	setup  slots.Setup
	pages  []*modelPage
	gone   []*modelPage // without memory: the last comes back first
	again  []uint64     // what came back last and is not handed out: from, to
	stages []uint32     // of the slots that were handed out
	first  uint32       // the first live stage of slots that were never used

	exhausted, inserted uint64
	needed              uint64
	changes             uint32
	stub                bool
}

func sum(pages []*modelPage) (n uint64) {
	for _, p := range pages {
		n += p.n
	}
	return n
}

// bound, withMemory, resident and unused are those of the table.
func (m *model) bound() uint64 {
	if m.setup.Capacity == 0 {
		return m.setup.Slots
	}
	return min(m.setup.Slots, m.setup.Capacity+m.exhausted)
}

func (m *model) withMemory() uint64 { return min(sum(m.pages), m.bound()) }

func (m *model) resident() uint64 { return m.withMemory() - sum(m.gone) }

func (m *model) unused() uint64 {
	n := m.withMemory() - uint64(len(m.stages))
	if len(m.again) > 0 {
		n += m.again[1] - m.again[0]
	}
	return n
}

// runs returns the runs of neighbours in gone, in the order of the list.
func (m *model) runs() (runs [][]*modelPage) {
	for k, p := range m.gone {
		if k == 0 || p.first+p.n != m.gone[k-1].first {
			runs = append(runs, nil)
		}
		runs[len(runs)-1] = append(runs[len(runs)-1], p)
	}
	return runs
}

// more makes room for n slots, or brings back as many as have memory, but no more than one for each 64. It reports
// whether it did anything.
func (m *model) more(t *testing.T, table *slots.Table, n uint64) bool {
	room := m.withMemory() < m.bound()
	switch {
	case len(m.gone) > 0 && len(m.again) == 0 && !(room && m.setup.NewFirst):
		runs := m.runs()
		if n > 0 {
			longest := 0
			for k, run := range runs {
				if sum(run) > sum(runs[longest]) {
					longest = k
				}
			}
			run := runs[longest]
			runs = append(slices.Delete(runs, longest, longest+1), run)
			m.gone = slices.Concat(runs...)
			runs = m.runs() // the one before may be its neighbour
		}
		run := slices.Clone(runs[len(runs)-1])
		slices.Reverse(run)
		k := 1
		for k < len(run) && (sum(run[:k]) < n || sum(run[:k+1]) <= min(sum(m.pages)/64, m.resident())) {
			k++
		}
		m.gone = m.gone[:len(m.gone)-k]
		m.again = []uint64{run[0].first, run[0].first + sum(run[:k])}
		for _, p := range run[:k] {
			for i := p.first; i < p.first+p.n; i++ {
				m.stages[i] = p.floor
			}
			p.floor = 0
		}
	case room:
		limit := sum(m.pages)
		m.pages = append(m.pages, &modelPage{first: limit, n: uint64(table.Pages().Limit) - limit})
		require.Positive(t, m.pages[len(m.pages)-1].n, "a page should be added")
	default:
		return false
	}
	m.changes++
	return true
}

// requireEqual requires that the table says what the model does.
func (m *model) requireEqual(t *testing.T, table *slots.Table) {
	t.Helper()
	want := slots.Memory{Next: uint64(len(m.stages)), Again: m.again, Stub: m.stub}
	whole, unit := table.FirstPage(), uint64(table.Pages().Mask)+1
	for _, p := range m.pages {
		if p.first < max(want.Next, whole) {
			continue
		}
		for i := p.first; i < p.first+p.n; i += unit {
			want.Unused = append(want.Unused, i)
		}
	}
	for _, p := range m.gone {
		want.Gone = append(want.Gone, p.first, uint64(p.floor))
	}
	require.Equal(t, want, table.Memory())
	got := []uint64{uint64(table.Changes()), uint64(table.Resident()), table.Missing(), table.Unused(), table.Left(), table.WithMemory(), table.Allocated()}
	require.Equal(t, []uint64{
		uint64(m.changes), m.resident(), sum(m.gone), m.unused(), m.unused() + sum(m.gone) + m.bound() - m.withMemory(), m.withMemory(), want.Next,
	}, got)
	require.Equal(t, m.stub, table.HasStub())
	stages := make([]uint32, len(m.stages))
	now := table.Pages()
	for i := 0; i < len(stages); {
		i += table.Stages(now, uint32(i), stages[i:])
	}
	if !slices.Equal(m.stages, stages) {
		require.Equal(t, m.stages, stages)
	}
	for _, p := range m.pages {
		floor, gone := now.Floor(uint32(p.first))
		require.Equal(t, []any{p.floor, p.floor != 0}, []any{floor, gone}, "slot %d", p.first)
		for i := p.first; gone && i < p.first+p.n; i++ {
			if word := now.At(uint32(i)).Word.Load(); word != slots.Pack(0, slots.None) {
				t.Fatalf("slot %d, which has no memory, has the word %x", i, word)
			}
		}
	}
	live := 0
	for _, stage := range m.stages {
		live += int(stage % 2)
	}
	s := table.Survey()
	require.Equal(t, []int{live, live}, []int{s.Live, table.Live()})
	require.EqualValues(t, m.inserted, table.Inserted(s, 0))
}

// TestTableMatchesModel: whatever is handed out, given up and brought back, in which order ever.
func TestTableMatchesModel(t *testing.T) {
	rnd := testkit.Rand(t)
	sizes := []slots.PageSizes{{Unit: 1, Page: 1, Most: 1}, {Unit: 1, Page: 2, Most: 4}}
	for range testkit.Long(400) {
		setup := slots.Setup{
			Layout: slots.LayoutOf[uint64](false, nil), Slots: 20 + rnd.Uint64N(60), Pages: sizes[rnd.IntN(2)],
			Origin: slots.DrawOrigin(rnd.Uint32()) | rnd.Uint32N(2), NewFirst: rnd.IntN(3) == 0,
		}
		if rnd.IntN(3) == 0 {
			setup.Slots *= 10 // so that several come back
		}
		if rnd.IntN(2) == 0 {
			setup.Capacity = setup.Slots / 2
			setup.Fixed = rnd.IntN(3) == 0
		}
		if rnd.IntN(3) == 0 {
			setup.FreshStage = 1 + 2*rnd.Uint32N(20)
		}
		table, m := new(slots.Table), &model{setup: setup, first: max(1, setup.FreshStage), stages: []uint32{}}
		table.Init(setup)
		for n := setup.Slots; n >= 200 && table.ProvideMore(n); {
			require.True(t, m.unused() < n && m.more(t, table, n))
		}
		for range 60 {
			m.step(t, table, rnd.IntN, rnd.Uint64N)
			m.requireEqual(t, table)
		}
	}
}

// step makes a drawn call.
func (m *model) step(t *testing.T, table *slots.Table, intN func(int) int, uintN func(uint64) uint64) {
	switch intN(7) {
	case 0, 1:
		n := 1 + uintN([]uint64{4, m.setup.Slots}[intN(2)])
		first, end := uint64(len(m.stages)), uint64(0)
		if back := len(m.again) > 0; back {
			first = m.again[0]
			end = min(first+n, m.again[1])
			if m.again[0] = end; end == m.again[1] {
				m.again = nil
			}
		} else if end = min(first+n, m.withMemory()); first >= end {
			first, end = 0, 0
		}
		lo, hi := table.Allot(uint32(n))
		require.Equal(t, []uint64{first, end}, []uint64{uint64(lo), uint64(hi)})
		for i := lo; i < hi; i++ {
			slot, h := table.FirstLife(i)
			stage := m.first
			if int(i) < len(m.stages) {
				stage = m.stages[i] + 1
			} else {
				m.stages = append(m.stages, stage)
			}
			require.Equal(t, slots.Pack(table.Origins().Generation(i, stage), i), h)
			slot.Publish(h)
			m.stages[i] = stage
			m.inserted++
		}
	case 2: // some slots get other lives, or are vacant
		for i := range m.stages {
			if p := m.page(uint64(i)); p.floor == 0 && !m.isUnused(uint64(i)) && intN(2) == 0 {
				m.stages[i]++
				low := uint32(slots.None)
				if m.stages[i]%2 == 1 {
					low = uint32(i)
					m.inserted++
				}
				table.Slot(uint32(i)).Set(slots.Pack(table.Origins().Generation(uint32(i), m.stages[i]), low))
			}
		}
	case 3:
		var gone []slots.Decommitted
		all := intN(2) == 0
		for _, p := range slices.Backward(m.pages) {
			if p.floor != 0 || p.first+p.n > uint64(len(m.stages)) || m.isUnused(p.first+p.n-1) || !all && intN(4) == 0 {
				continue
			}
			d := slots.Decommitted{FirstSlot: uint32(p.first)}
			for i := p.first; i < p.first+p.n; i++ {
				if m.stages[i]%2 == 1 { // it ends
					m.stages[i]++
				}
				d.Floor = max(d.Floor, m.stages[i])
				d.Lives += table.Lives(m.stages[i])
			}
			p.floor = d.Floor
			gone, m.gone = append(gone, d), append(m.gone, p)
			for i := p.first; i < p.first+p.n; i++ {
				m.stages[i] = p.floor
			}
		}
		if len(gone) == 0 {
			return
		}
		before := table.Bytes()
		freed := table.Decommit(gone)
		require.Equal(t, max(0, before-table.Bytes()), freed)
		m.stub = true
		m.changes++
		m.needed = min(m.needed, m.resident())
	case 4:
		n := uintN(m.setup.Slots)
		did := table.ProvideMore(n)
		require.Equal(t, m.unused() < n && m.more(t, table, n), did)
	case 5:
		stale, changes := intN(4) == 0, table.Changes()
		if stale {
			changes--
		}
		if intN(2) == 0 {
			if table.Grow(changes); !stale {
				m.needed = m.resident()
				m.grow(t, table)
			}
			return
		}
		slack := intN(int(m.setup.Slots) / 2)
		limit := uint64(table.Pages().Limit)
		roomAhead := m.resident()+table.NextPage() <= m.needed+uint64(slack)
		did := table.GrowAhead(changes, slack)
		if !roomAhead {
			require.False(t, did)
			require.EqualValues(t, limit, table.Pages().Limit)
		} else if stale {
			require.True(t, did)
		} else {
			require.Equal(t, m.grow(t, table), did)
		}
	case 6:
		if m.setup.Capacity > 0 && m.exhausted < uint64(len(m.stages)) {
			table.CountSpent()
			table.CountExhausted()
			m.exhausted++
		}
	}
}

// grow is more, unless slots are left.
func (m *model) grow(t *testing.T, table *slots.Table) bool {
	return m.unused() > 0 || m.more(t, table, 0)
}

// page returns the page of slot i, and isUnused reports whether that came back and is not handed out.
func (m *model) page(i uint64) *modelPage {
	k, _ := slices.BinarySearchFunc(m.pages, i, func(p *modelPage, i uint64) int { return int(p.first+p.n) - int(i) - 1 })
	for m.pages[k].first+m.pages[k].n <= i {
		k++
	}
	return m.pages[k]
}

func (m *model) isUnused(i uint64) bool {
	return len(m.again) > 0 && i >= m.again[0] && i < m.again[1]
}
