package poolhttp

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// asked is a Source that tells when it is asked.
type asked chan bool

func (a asked) Stats() pool.Stats {
	close(a)
	return pool.Stats{}
}

// TestLooksTakeTurns: two that look at one pool at once add their samples one after the other.
func TestLooksTakeTurns(t *testing.T) {
	var e entry
	a, looked := make(asked), make(chan history, 1)
	e.mu.Lock()
	go func() {
		_, h := e.look(a)
		looked <- h
	}()
	testkit.Soon(t, a)
	time.Sleep(time.Millisecond) // a look that took no turn would be over
	e.samples = history{sampled(time.Now().Add(-2*apart), pool.Stats{})}
	e.mu.Unlock()
	require.Len(t, testkit.Soon(t, looked), 2)
}

// TestRegistryIsLockedUntilItIsChanged: nobody registers between a look at a name and what follows from it.
func TestRegistryIsLockedUntilItIsChanged(t *testing.T) {
	looked := false
	registry.locked(func(entries map[string]*entry) {
		entries["locked"] = &entry{name: "locked", pool: func() figured {
			looked = true
			assert.False(t, registry.mu.TryLock(), "the registry should be locked during a look")
			return nil
		}}
	})
	p := pool.Must[int](nil)
	Register("locked", p)
	require.True(t, looked, "Register should look at the pool that had the name")
	require.Equal(t, figured(p), Entry("locked").pool())
	require.True(t, registry.mu.TryLock(), "the registry should be unlocked after the call")
	registry.mu.Unlock()
	Unregister("locked")
}
