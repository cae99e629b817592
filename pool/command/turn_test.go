package command_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/command"
)

// TestWhatAPanicLeavesIsPutBackInTurn: an Apply that panics records what is left when no other goroutine uses the
// Buffer's lists.
func TestWhatAPanicLeavesIsPutBackInTurn(t *testing.T) {
	p := pool.Must[value](nil)
	b := command.New(p)
	for _, h := range testkit.Fill(t, p, 3, func(i int) value { return valueOf(uint64(i)) }) {
		b.Remove(h)
	}
	meanwhile := make(chan int, 1)
	testkit.RequirePanicText(t, func() {
		command.ApplyFunc(func(handle, value) {
			unlock := command.Lock(b)
			go func() {
				for range 1000 { // an Apply that took no turn would be over
					runtime.Gosched()
				}
				_, removals := command.Recorded(b)
				unlock()
				meanwhile <- removals
			}()
			panic("told")
		}, b)
	}, "told")
	require.Zero(t, testkit.Soon(t, meanwhile))
	_, removals := command.Recorded(b)
	require.Equal(t, 2, removals)
}
