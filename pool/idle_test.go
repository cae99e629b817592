package pool_test

import (
	"bytes"
	"runtime"
	"strconv"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"coatcheck/pool"
)

// What was removed from a pool that nobody uses any more is let go, with all it
// refers to, whichever way it was removed and however little it was.
func TestIdlePoolLetsGoOfRemovedValues(t *testing.T) {
	const n = 20
	for _, reuse := range reuses {
		for name, remove := range map[string]func(p *pool.Pool[holder], hs []pool.Handle[holder]){
			"Remove": func(p *pool.Pool[holder], hs []pool.Handle[holder]) {
				each(hs, func(h pool.Handle[holder]) { p.Remove(h) })
			},
			"Take": func(p *pool.Pool[holder], hs []pool.Handle[holder]) {
				each(hs, func(h pool.Handle[holder]) { p.Take(h) })
			},
			"RemoveBatch": func(p *pool.Pool[holder], hs []pool.Handle[holder]) { p.RemoveBatch(hs) },
			"DeleteFunc": func(p *pool.Pool[holder], _ []pool.Handle[holder]) {
				p.DeleteFunc(func(pool.Handle[holder], *holder) bool { return true })
			},
			"after a guard": func(p *pool.Pool[holder], hs []pool.Handle[holder]) {
				g := p.Pin()
				p.RemoveBatch(hs)
				g.Unpin()
			},
		} {
			t.Run(reuse.String()+" "+name, func(t *testing.T) {
				p := pool.Must[holder](&pool.Options[holder]{Reuse: reuse})
				refs := make([]weak.Pointer[payload], n)
				apart(func() {
					hs := make([]pool.Handle[holder], n)
					for i := range hs {
						v := new(payload)
						refs[i] = weak.Make(v)
						hs[i], _ = p.Insert(v)
					}
					remove(p, hs)
				})
				// Two cycles; a finalizer runs some time after the first.
				runtime.GC()
				for end := time.Now().Add(20 * time.Second); pool.Waiting(p) > 0 && time.Now().Before(end); {
					time.Sleep(time.Millisecond)
				}
				runtime.GC()
				left := 0
				for _, r := range refs {
					if r.Value() != nil {
						left++
					}
				}
				require.Zero(t, left, "removed values that are kept")
				runtime.KeepAlive(p)
			})
		}
	}
}

// A pool is collected with its sentinel, which does not keep it.
func TestSentinelDoesNotKeepThePool(t *testing.T) {
	var ref weak.Pointer[pool.Pool[holder]]
	apart(func() {
		p := pool.Must[holder](nil)
		mustInsert(t, p, new(payload))
		ref = weak.Make(p)
	})
	eventually(t, func() bool { return ref.Value() == nil }, "the pool is kept")
}

// A pool is made, or read, while cycles of the collector end: its sentinel does not run
// before it is complete.
func TestSentinelWaitsForThePool(t *testing.T) {
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	}()
	var snapshot bytes.Buffer
	first := pool.Must[string](nil)
	fill(t, first, 100, strconv.Itoa)
	_, err := first.WriteTo(&snapshot)
	require.NoError(t, err)
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		p := pool.Must[string](&pool.Options[string]{Shards: 4096})
		mustInsert(t, p, "a")
		q, err := pool.ReadFrom[string](bytes.NewReader(snapshot.Bytes()), &pool.Options[string]{Shards: 1024})
		require.NoError(t, err)
		require.Equal(t, 100, q.Clear())
	}
	close(stop)
	<-done
}
