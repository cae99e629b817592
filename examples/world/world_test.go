package main

import (
	"bytes"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// grown makes a world and runs it for some ticks.
func grown(t testing.TB, seed uint64, workers, ticks int) *World {
	t.Helper()
	w, err := NewWorld(seed, workers, 16)
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

// ticks is long enough for leaves to be eaten and, in the full programme, for a second
// generation of plants.
func ticks() int {
	if testkit.Short() || testkit.Watched {
		return 40
	}
	return 240
}

// TestWorldIsTheSameForAnyWorkers: also if it is saved half-way and continued by others. It
// catches spawns applied in the order in which workers recorded them.
func TestWorldIsTheSameForAnyWorkers(t *testing.T) {
	seen := map[uint64]bool{}
	for seed := range uint64(2) {
		straight := grown(t, seed, 1, ticks())
		require.False(t, seen[straight.Checksum()], "the seed makes no difference")
		seen[straight.Checksum()] = true
		for _, workers := range []int{2, 8} {
			w := grown(t, seed, workers, ticks()/2)
			var saved bytes.Buffer
			require.NoError(t, w.Save(&saved))
			c, err := Load(&saved, 10-workers)
			require.NoError(t, err)
			require.Equal(t, w.Checksum(), c.Checksum())
			n, err := sameHandles(w, c)
			require.NoError(t, err)
			require.Equal(t, w.shapes.Len()+w.beetles.Len(), n)
			goOn(t, c, ticks()-ticks()/2)
			require.Equalf(t, straight.Checksum(), c.Checksum(), "seed %d, %d workers", seed, workers)
			require.Equal(t, straight.report(), c.report())
		}
	}
}

// TestStructuresAgree: between ticks each part has a shape and a place in its plant, and
// no command waits.
func TestStructuresAgree(t *testing.T) {
	w := grown(t, 7, 4, 0)
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
				require.True(t, ok, "each child should have a parent")
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
		require.Greater(t, len(w.ground), 16, "no plant was sown")
	}
	require.Positive(t, w.counts.Eaten)
}

// TestChecksumSeesEverything: each field of everything is in the checksum.
func TestChecksumSeesEverything(t *testing.T) {
	w := grown(t, 11, 2, 30)
	before := w.Checksum()
	changed := func(what string, change func()) {
		change()
		after := w.Checksum()
		require.NotEqual(t, before, after, what)
		before = after
	}
	h := w.shapes.Keys()[w.shapes.Len()/2]
	w.parts.View(h, func(p *Part) {
		changed("vigour", func() { p.Vigour++ })
		changed("hue", func() { p.Hue++ })
		changed("grown", func() { p.Grown++ })
		changed("kind", func() { p.Kind++ })
	})
	changed("place", func() { *w.columns.toX.At(w.shapes.Lookup(h))++ })
	changed("parent", func() { require.NoError(t, w.plants.Detach(h)) })
	changed("age", func() { *w.columns.age.At(w.shapes.Lookup(h))++ })
	changed("beetle", func() { w.beetles.Values()[0].Food++ })
	changed("perch", func() { w.beetles.Values()[0].Perch = h })
}

// TestLoadRefusesWhatIsNoWorld: an input that is truncated, or whose table does not match the
// parts, is refused.
func TestLoadRefusesWhatIsNoWorld(t *testing.T) {
	w := grown(t, 13, 1, 10)
	var saved bytes.Buffer
	require.NoError(t, w.Save(&saved))
	_, err := Load(bytes.NewReader(saved.Bytes()[:saved.Len()-1]), 1)
	require.Error(t, err)
	w.shapes.Remove(w.shapes.Keys()[0])
	saved.Reset()
	require.NoError(t, w.Save(&saved))
	_, err = Load(&saved, 1)
	require.ErrorContains(t, err, fmt.Sprint(w.parts.Len(), " parts"))
}

// TestProgramPrintsTheSameForAnyWorkers: the checksum is the same. Half-way all handles are, and
// the picture shows leaves.
func TestProgramPrintsTheSameForAnyWorkers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "meadow.png")
	checksum := func(workers int) string {
		var out bytes.Buffer
		require.NoError(t, play(t.Context(), options{seed: 1, ticks: 40, workers: workers, picture: path}, &out))
		require.Contains(t, out.String(), "handles, live and stale, mean the same")
		_, after, found := strings.Cut(out.String(), "checksum    ")
		require.True(t, found, out.String())
		return after[:16]
	}
	require.Equal(t, checksum(1), checksum(8))
	var out bytes.Buffer
	require.Error(t, play(t.Context(), options{workers: 1, picture: t.TempDir()}, &out))
	require.NotContains(t, out.String(), "picture", "no file, no line")
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	img, err := png.Decode(f)
	require.NoError(t, err)
	green := 0
	for y := range height {
		for x := range width {
			if r, g, b, _ := img.At(x, y).RGBA(); g > r+r/4 && g > b+b/4 {
				green++
			}
		}
	}
	require.Greater(t, green, 3_000)
}
