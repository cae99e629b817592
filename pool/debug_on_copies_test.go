//go:build coatcheck_debug && !interleave

package pool_test

import (
	"bytes"
	"log"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/pool"
)

//lint:file-ignore U1000 These types are looked at by reflection alone.

type (
	withAtomic  struct{ hits atomic.Int64 }
	withPointer struct{ p atomic.Pointer[int] }
	withMutex   struct {
		name string
		mu   sync.Mutex
	}
	withArray struct {
		none   [0]sync.Mutex
		shards [2]withMutex
	}
	withLock   struct{ spin spin }
	spin       uint32
	referring  struct{ *sync.Mutex }
	unchanging struct {
		name string
		mu   *sync.Mutex
		hits *atomic.Int64
		any  sync.Locker
		none [0]sync.Mutex
	}
)

func (*spin) Lock() {}

// logged returns what f logs.
func logged(t *testing.T, f func()) string {
	t.Helper()
	var b bytes.Buffer
	old := log.Writer()
	log.SetOutput(&b)
	defer log.SetOutput(old)
	f()
	return b.String()
}

// copyTwice calls get twice with a live value, and returns what it logs the first time.
func copyTwice[T any](t *testing.T, get func(p *pool.Pool[T], h pool.Handle[T])) string {
	t.Helper()
	call := func() {
		p := pool.Must[T](nil)
		h, err := p.InsertFunc(func(pool.Handle[T], *T) {})
		require.NoError(t, err)
		get(p, h)
	}
	text := logged(t, call)
	require.Empty(t, logged(t, call), "it is said once")
	return text
}

// A copy of what others change is reported, once for each type.
func TestCopiesOfChangingValuesAreReported(t *testing.T) {
	text := copyTwice(t, func(p *pool.Pool[withAtomic], h pool.Handle[withAtomic]) { p.Get(h) })
	require.Contains(t, text, "pool_test.withAtomic.hits (atomic.Int64) is an atomic")
	require.Contains(t, text, "Use View, a Guard or Hold, or keep pointers")
	require.Contains(t, text, "coatcheck/pool_test.TestCopiesOfChangingValuesAreReported")
	require.Contains(t, copyTwice(t, func(p *pool.Pool[withPointer], h pool.Handle[withPointer]) { p.Take(h) }), "withPointer.p (atomic.Pointer[int]) is an atomic")
	require.Contains(t, copyTwice(t, func(p *pool.Pool[withMutex], h pool.Handle[withMutex]) { p.MustGet(h) }), "withMutex.mu (sync.Mutex) has a Lock method")
	require.Contains(t, copyTwice(t, func(p *pool.Pool[withArray], h pool.Handle[withArray]) { p.Worker().Take(h) }), "withArray.shards[0].mu (sync.Mutex)")
	require.Contains(t, copyTwice(t, func(p *pool.Pool[withLock], h pool.Handle[withLock]) { p.Ptr(h).Get() }), "withLock.spin (pool_test.spin) has a Lock method")
	require.Contains(t, copyTwice(t, func(p *pool.Pool[sync.RWMutex], _ pool.Handle[sync.RWMutex]) {
		for range p.Drain() {
		}
	}), "sync.RWMutex (sync.RWMutex) has a Lock method")
}

// No other copy is reported, and no access in place.
func TestOtherCopiesAreNotReported(t *testing.T) {
	require.Empty(t, copyTwice(t, func(p *pool.Pool[unchanging], h pool.Handle[unchanging]) { p.Get(h) }))
	require.Empty(t, copyTwice(t, func(p *pool.Pool[referring], h pool.Handle[referring]) { p.Get(h) }))
	require.Empty(t, copyTwice(t, func(p *pool.Pool[*withMutex], h pool.Handle[*withMutex]) { p.Get(h) }))
	require.Empty(t, copyTwice(t, func(p *pool.Pool[sync.Locker], h pool.Handle[sync.Locker]) { p.Get(h) }))
	type inPlace struct{ mu sync.Mutex }
	require.Empty(t, copyTwice(t, func(p *pool.Pool[inPlace], h pool.Handle[inPlace]) {
		p.View(h, func(*inPlace) {})
		g := p.Pin()
		g.Pointer(h)
		g.Unpin()
		p.Remove(h)
	}))
}
