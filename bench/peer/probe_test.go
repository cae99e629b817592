package peer

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/bench/suite"
	"coatcheck/internal/check/testkit"
)

// findings are what a peer catches, by a result or a panic, without another effect.
type findings struct {
	stale  bool // a look-up of a removed value, at once and after its slot was reused
	double bool // a second removal
	late   bool // a second removal after the slot was reused
	other  bool // a look-up of a name of another store
}

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

// probe misuses p. It reuses a slot up to tries times to see whether a stale name comes
// back to life.
func probe(t *testing.T, p Peer[Rest16], tries int) (f findings) {
	t.Helper()
	// Each misuse has a store of its own, since one that is not caught damages it.
	misuse := func(test func(w Session, ns Names)) {
		w := p.Open(Config[Rest16]{Live: probed, Sessions: 2}).Session()
		defer w.Close()
		ns := w.Names(probed)
		w.Put(ns, 0, 100)
		require.True(t, live(w, ns, 0, 100), "a live value is not found")
		require.True(t, w.Drop(ns, 0), "a live value cannot be removed")
		test(w, ns)
	}
	misuse(func(w Session, ns Names) {
		stale := func() bool { return caught(func() bool { _, ok := w.Look(ns, 0); return ok }) }
		f.stale = stale()
		for i := 1; i <= tries && f.stale; i++ {
			w.Put(ns, 1, uint64(1000+i))
			f.stale = stale()
			require.True(t, w.Drop(ns, 1), "the record should be there")
		}
	})
	misuse(func(w Session, ns Names) {
		if f.double = caught(func() bool { return w.Drop(ns, 0) }); f.double {
			w.Put(ns, 1, 200)
			w.Put(ns, 2, 300)
			f.double = live(w, ns, 1, 200) && live(w, ns, 2, 300)
		}
	})
	misuse(func(w Session, ns Names) {
		for i := 1; i < probed; i++ {
			w.Put(ns, i, uint64(100+i))
		}
		f.late = caught(func() bool { return w.Drop(ns, 0) })
		for i := 1; i < probed; i++ {
			f.late = f.late && live(w, ns, i, uint64(100+i))
		}
	})
	misuse(func(w Session, ns Names) {
		others := p.Open(Config[Rest16]{Live: probed, Sessions: 2}).Session()
		defer others.Close()
		theirs := others.Names(probed)
		others.Fill(theirs, 500)
		w.Fill(ns, 100)
		f.other = true
		for i := range probed {
			f.other = f.other && caught(func() bool { _, ok := w.Look(theirs, i); return ok })
		}
	})
	return f
}

// A peer that does not catch every misuse is a reference, and no verdict is about it.
func TestRolesFollowMisuse(t *testing.T) {
	safe, missing := findings{true, true, true, true}, findings{}
	slots := findings{true, true, true, false} // two slot maps have the same names
	want := map[string]findings{
		NamePool: safe, NameWorker: safe, NameGuard: safe, NameMap: safe, NameSyncMap: safe, NameXsync: safe,
		NameMutex: slots, NamePlain: slots, NameArk: slots,
		NameSyncPool: missing, NameNew: missing,
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
			if !f.stale || !f.double || !f.late {
				assert.Equal(t, suite.Reference, p.Role)
			}
		})
	}
}
