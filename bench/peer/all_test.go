package peer

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/bench/suite"
	"coatcheck/internal/check/testkit"
)

func TestEveryPeerHasItsName(t *testing.T) {
	roles := Roles()
	seen := make(map[string]bool)
	for _, p := range All[Rest16]() {
		require.False(t, seen[p.Name], "two peers are called %s", p.Name)
		seen[p.Name] = true
		assert.NotEmpty(t, p.What, p.Name)
		got, ok := ByName[Rest16](p.Name)
		require.True(t, ok)
		assert.Equal(t, p.About, got.About)
		assert.Equal(t, p.Role, roles[p.Name])
	}
	require.Len(t, roles, len(seen))
	for role, names := range map[suite.Role][]string{
		suite.Ours:      {NamePool, NameFIFO, NameWorker},
		suite.Reference: {NamePlain, NameSlice, NameNew, NameSyncPool, NameChannel},
		suite.Theirs:    {NameMutex, NameArk},
	} {
		for _, name := range names {
			assert.Equal(t, role, roles[name], name)
		}
	}
	_, ok := ByName[Rest16]("nobody")
	require.False(t, ok)
}

// About.Loses is a claim about somebody else's work. This is what it rests on; when
// it fails, haxmap may be let in among those that goroutines share.
func TestHaxmapLoses(t *testing.T) {
	if testing.Short() || testkit.Race {
		t.Skip("takes a while to happen")
	}
	const sessions, live, n = 4, 16, 50_000
	for try := range 50 {
		store := must(Haxmap[Rest16]().Open(Config[Rest16]{Live: live, Sessions: sessions}))
		shared := make([]atomic.Uint64, live)
		w := store.Session()
		ns := w.Names(live)
		w.Fill(ns, 1)
		w.(Mixer).Publish(ns, shared)
		var (
			wg   sync.WaitGroup
			lost atomic.Int64
		)
		for g := range sessions {
			wg.Add(1)
			go func() {
				defer wg.Done()
				ops := make([]uint32, n)
				for i := range ops {
					ops[i] = uint32((i*(2*g+1)+g)%live)<<1 | 1
				}
				_, _, failed := store.Session().(Mixer).Mix(shared, ops, 1)
				lost.Add(int64(failed))
			}()
		}
		wg.Wait()
		if lost.Load() > 0 {
			t.Logf("try %d: %d values of %d were gone when their one owner came to remove them", try, lost.Load(), sessions*n)
			return
		}
	}
	assert.Fail(t, "haxmap lost nothing")
}
