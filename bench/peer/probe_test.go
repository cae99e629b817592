package peer

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/bench/suite"
	"coatcheck/internal/check/testkit"
)

// probed is the number of values of a probe. The value in place 0 is the one that is
// removed.
const probed = 8

// caught calls f and reports whether it returned false or panicked.
func caught(f func() bool) (caught bool) {
	defer func() { caught = caught || recover() != nil }()
	return !f()
}

// live reports whether place i holds id.
func live(w Session, ns Names, i int, id uint64) bool {
	got, ok := w.Look(ns, i)
	return ok && got == id
}

// probe returns the misuses that p catches, by a result or a panic, without another effect: a
// look-up of a removed value, at once and after its slot was reused up to tries times; a second
// removal; one after the slot was reused; and a look-up of a name of another store.
func probe(t *testing.T, p Peer[Rest16], tries int) (found []string) {
	t.Helper()
	// Each misuse has a store of its own, since one that is not caught damages it.
	misuse := func(name string, is func(w Session, ns Names) bool) {
		w := p.Open(Config[Rest16]{Live: probed, Sessions: 2}).Session()
		defer w.Close()
		ns := w.Names(probed)
		w.Put(ns, 0, 100)
		require.True(t, live(w, ns, 0, 100), "a live value is not found")
		require.True(t, w.Drop(ns, 0), "a live value cannot be removed")
		if is(w, ns) {
			found = append(found, name)
		}
	}
	missing := func(w Session, ns Names, i int) bool {
		return caught(func() bool { _, ok := w.Look(ns, i); return ok })
	}
	misuse("stale", func(w Session, ns Names) bool {
		stale := missing(w, ns, 0)
		for i := 1; i <= tries && stale; i++ {
			w.Put(ns, 1, uint64(1000+i))
			stale = missing(w, ns, 0)
			require.True(t, w.Drop(ns, 1))
		}
		return stale
	})
	misuse("double", func(w Session, ns Names) bool {
		double := caught(func() bool { return w.Drop(ns, 0) })
		if double {
			w.Put(ns, 1, 200)
			w.Put(ns, 2, 300)
		}
		return double && live(w, ns, 1, 200) && live(w, ns, 2, 300)
	})
	misuse("late", func(w Session, ns Names) bool {
		for i := 1; i < probed; i++ {
			w.Put(ns, i, uint64(100+i))
		}
		late := caught(func() bool { return w.Drop(ns, 0) })
		for i := 1; i < probed; i++ {
			late = late && live(w, ns, i, uint64(100+i))
		}
		return late
	})
	misuse("other", func(w Session, ns Names) bool {
		others := p.Open(Config[Rest16]{Live: probed, Sessions: 2}).Session()
		defer others.Close()
		theirs := others.Names(probed)
		others.Fill(theirs, 500)
		w.Fill(ns, 100)
		other := true
		for i := range probed {
			other = other && missing(w, theirs, i)
		}
		return other
	})
	return found
}

// A peer that does not catch every misuse is a reference, and no verdict is about it.
func TestRolesFollowMisuse(t *testing.T) {
	safe := []string{"stale", "double", "late", "other"}
	slots := safe[:3] // two slot maps have the same names
	want := map[string][]string{
		NamePool: safe, NameWorker: safe, NameGuard: safe, NameSyncMap: safe, NameXsync: safe,
		NameMutex: slots, NamePlain: slots, NameArk: slots,
		NameSyncPool: nil, NameNew: nil,
	}
	tries := 1 << 17 // enough for a generation of 16 bits
	if testing.Short() || testkit.Race {
		tries = 1 << 10
	}
	for _, p := range All[Rest16]() {
		t.Run("impl="+p.Name, func(t *testing.T) {
			if p.Name == NameSyncPool && testkit.Race {
				t.Skip("under the race detector sync.Pool drops values at random")
			}
			f := probe(t, p, tries)
			require.Contains(t, want, p.Name)
			assert.Equal(t, want[p.Name], f)
			if len(f) < len(slots) {
				assert.Equal(t, suite.Reference, p.Role)
			}
		})
	}
}
