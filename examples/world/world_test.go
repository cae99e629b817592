package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/table"
)

// grown makes a world and runs it for some ticks.
func grown(t testing.TB, seed uint64, workers, ticks int, layout table.Layout) *World {
	t.Helper()
	w, err := NewWorld(seed, workers, 16, layout)
	require.NoError(t, err)
	goOn(t, w, ticks)
	return w
}

// goOn runs w for some more ticks.
func goOn(t testing.TB, w *World, ticks int) {
	t.Helper()
	for range ticks {
		require.NoError(t, w.Tick())
	}
}

// copyOf saves w and reads it back.
func copyOf(t testing.TB, w *World, workers int, layout table.Layout) *World {
	t.Helper()
	var saved bytes.Buffer
	require.NoError(t, w.Save(&saved))
	c, err := Load(&saved, workers, layout)
	require.NoError(t, err)
	return c
}

// ticks is long enough for leaves to be eaten and, in the full programme, for a second
// generation of plants.
func ticks() int {
	if testing.Short() || testkit.Watched {
		return 40
	}
	return 240
}

// TestWorldDoesNotDependOnWorkers: a world is the same whatever the number of workers and
// the layout. It catches spawns applied in the order in which workers recorded them.
func TestWorldDoesNotDependOnWorkers(t *testing.T) {
	seeds := uint64(2)
	if testkit.Watched {
		seeds = 1
	}
	for seed := range seeds {
		want := grown(t, seed, 1, ticks(), table.SoA).Checksum()
		for workers, layout := range map[int]table.Layout{2: table.AoS, 8: table.SoA} {
			w := grown(t, seed, workers, ticks(), layout)
			require.Equalf(t, want, w.Checksum(), "seed %d, %d workers, %v", seed, workers, layout)
		}
	}
	require.NotEqual(t, grown(t, 0, 2, 20, table.SoA).Checksum(), grown(t, 1, 2, 20, table.SoA).Checksum())
}

// TestWorldResumes: a world that is saved and read back continues like the original, with
// other workers and another layout, and every handle names the same.
func TestWorldResumes(t *testing.T) {
	straight := grown(t, 3, 2, ticks(), table.SoA)
	w := grown(t, 3, 2, ticks()/2, table.SoA)
	for _, workers := range []int{1, 8} {
		c := copyOf(t, w, workers, table.AoS)
		require.Equal(t, w.Checksum(), c.Checksum())
		n, err := sameHandles(w, c)
		require.NoError(t, err)
		require.Equal(t, w.shapes.Len()+w.beetles.Len(), n)
		goOn(t, c, ticks()/4)
		c = copyOf(t, c, 2, table.SoA)
		goOn(t, c, ticks()-ticks()/2-ticks()/4)
		require.Equalf(t, straight.Checksum(), c.Checksum(), "%d workers", workers)
		require.Equal(t, straight.report(), c.report())
	}
}

// TestStructuresAgree: between ticks each part has a shape and a place in its plant, and
// no command waits.
func TestStructuresAgree(t *testing.T) {
	w := grown(t, 7, 4, 0, table.SoA)
	for range ticks() / 20 {
		goOn(t, w, 20)
		require.Equal(t, w.parts.Len(), w.shapes.Len())
		require.Zero(t, w.parts.Stats().Reserved)
		seen := map[pool.Handle[Part]]bool{}
		var walk func(h pool.Handle[Part])
		walk = func(h pool.Handle[Part]) {
			require.Falsef(t, seen[h], "%v has two places", h)
			require.Truef(t, w.shapes.Lookup(h).IsSet(), "%v has no shape", h)
			seen[h] = true
			for child := range w.plants.Children(h) {
				parent, ok := w.plants.Parent(child)
				require.True(t, ok)
				require.Equal(t, h, parent)
				walk(child)
			}
		}
		for _, f := range w.ground {
			walk(f.part)
		}
		require.Len(t, seen, w.parts.Len())
		ids := map[uint64]bool{}
		for _, p := range w.parts.All() {
			require.Falsef(t, ids[p.ID], "two parts are %x", p.ID)
			ids[p.ID] = true
		}
		require.Equal(t, w.counts.Grown-w.counts.Withered, w.parts.Len(), "live parts are those grown less those withered")
		require.Zero(t, w.plants.Repair(), "no removal went behind the forest's back")
	}
	if ticks() > 200 {
		require.Positive(t, w.counts.Sown)
	}
	require.Positive(t, w.counts.Eaten)
}

// TestChecksumSeesEverything: each field of everything is in the checksum.
func TestChecksumSeesEverything(t *testing.T) {
	w := grown(t, 11, 2, 30, table.SoA)
	_, err := w.grains.Create(Grain{ID: 1})
	require.NoError(t, err)
	w.grains.Refresh()
	before := w.Checksum()
	changed := func(what string, change func()) {
		change()
		after := w.Checksum()
		require.NotEqual(t, before, after, what)
		before = after
	}
	h := w.shapes.Keys()[w.shapes.Len()/2]
	w.parts.View(h, func(p *Part) {
		changed("age", func() { p.Age++ })
		changed("sap", func() { p.Sap++ })
		changed("spare", func() { p.Spare++ })
		changed("grown", func() { p.Grown++ })
		changed("kind", func() { p.Kind++ })
	})
	changed("place", func() { *w.columns.toX.At(w.shapes.Lookup(h))++ })
	changed("parent", func() { require.NoError(t, w.plants.Detach(h)) })
	changed("grain", func() { w.grains.Values()[0].VY++ })
	changed("beetle", func() { w.beetles.Values()[0].Food++ })
	changed("perch", func() { w.beetles.Values()[0].Perch = h })
}

// TestLoadRefusesWhatIsNoWorld: a truncated or foreign input is refused as a whole.
func TestLoadRefusesWhatIsNoWorld(t *testing.T) {
	w := grown(t, 13, 1, 10, table.SoA)
	var saved bytes.Buffer
	require.NoError(t, w.Save(&saved))
	whole := saved.Bytes()
	for n := 0; n < len(whole); n += max(1, len(whole)/50) {
		_, err := Load(bytes.NewReader(whole[:n]), 1, table.SoA)
		require.Errorf(t, err, "%d of %d bytes", n, len(whole))
	}
	_, err := Load(strings.NewReader("PNG"), 1, table.SoA)
	require.ErrorIs(t, err, pool.ErrCorrupt)
	_, err = Load(bytes.NewReader(whole), 0, table.SoA)
	require.ErrorContains(t, err, "0 workers")
	// A table that does not match the parts.
	w.shapes.Remove(w.shapes.Keys()[0])
	saved.Reset()
	require.NoError(t, w.Save(&saved))
	_, err = Load(&saved, 1, table.SoA)
	require.ErrorContains(t, err, fmt.Sprint(w.parts.Len(), " parts"))
}
