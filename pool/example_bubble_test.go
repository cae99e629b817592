//go:build go1.25

package pool_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"coatcheck/pool"
	"coatcheck/pool/pooltest"
)

// seats is a pool of one seat, in which each guest waits for the guest before.
var seats = pool.Must[guest](&pool.Options[guest]{Capacity: 1})

type guest struct{ name string }

// TestGuestsWaitForASeat is the example of docs/operate.md: it takes no minute.
func TestGuestsWaitForASeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pooltest.EmptyAtEnd(t, seats)
		ann, err := seats.Insert(guest{"Ann"})
		require.NoError(t, err)
		go func() {
			time.Sleep(time.Minute)
			seats.Remove(ann)
		}()

		began := time.Now()
		bob, err := seats.InsertWait(t.Context(), guest{"Bob"})
		require.NoError(t, err)
		require.Equal(t, time.Minute, time.Since(began))
		require.True(t, seats.Remove(bob))
	})
}

// TestGuestsOfAnotherTestWaitToo: a second bubble uses the same pool.
func TestGuestsOfAnotherTestWaitToo(t *testing.T) { TestGuestsWaitForASeat(t) }
