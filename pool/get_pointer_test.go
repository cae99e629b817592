package pool_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/atom"
	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// The race detector reports a pointer of Pool.Pointer that is read although another goroutine
// removes the value: with the zeroing of a value with pointers, and with the construction of the
// next value in the slot. Each runs in a process of its own, which the report ends.
func TestStalePointerIsARace(t *testing.T) {
	if !testkit.Race {
		t.Skip("only the race detector reports it")
	}
	const within = "COATCHECK_STALE_POINTER"
	for name, read := range map[string]func(t *testing.T){
		"zeroed":      func(t *testing.T) { readStale(t, new(int), false) },
		"constructed": func(t *testing.T) { readStale(t, 1, true) },
	} {
		t.Run(name, func(t *testing.T) {
			if os.Getenv(within) != "" {
				read(t)
				return
			}
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestStalePointerIsARace$/^"+name+"$")
			child.Env = append(os.Environ(), within+"=1")
			out, ok := testkit.Run(t, child)
			require.False(t, ok, "it was not reported:\n%s", out)
			require.Contains(t, out, "WARNING: DATA RACE")
			require.Contains(t, out, "readStale")
		})
	}
}

// stale keeps the compiler from leaving the read out.
var stale any

// readStale reads a value by a pointer, while another goroutine removes it, and inserts it again if
// it should.
func readStale[T any](t *testing.T, value T, again bool) {
	p := pool.Must(&pool.Options[T]{Shards: 1})
	h := testkit.MustInsert(t, p, value)
	v, ok := p.Pointer(h)
	require.True(t, ok, "the value should be live")
	start, done := make(chan bool), make(chan error)
	go func() {
		<-start
		p.Remove(h)
		err := p.Synchronize(t.Context())
		if again {
			_, err = p.Insert(value)
		}
		done <- err
	}()
	start <- true
	stale = *v
	require.NoError(t, testkit.Soon(t, done))
}

// TestCopyUnderAPin: where Get needs a pin, it returns the same, and the pin ends. Without this test nothing calls it on
// amd64.
func TestCopyUnderAPin(t *testing.T) {
	p := pool.Must(&pool.Options[int]{Shards: 1})
	h := testkit.MustInsert(t, p, 7)
	v, ok := pool.GetPinned(p, h)
	require.True(t, ok, "the value should be live")
	require.Equal(t, 7, v)
	for _, none := range []pool.Handle[int]{0, h + 1, h + 2<<32, h | 1<<31} { // another slot, another life, no slot
		v, ok = pool.GetPinned(p, none)
		require.False(t, ok, "%v is not live", none)
		require.Zero(t, v)
	}
	require.Zero(t, p.Stats().Pinned)
}

// TestGetPinsNothing: where a processor allows it, a copy is checked by a second look, and costs no pin. The
// first pin of a pool makes its cells.
func TestGetPinsNothing(t *testing.T) {
	if !atom.CopiesWithoutPin {
		t.Skip("each copy is made under a pin")
	}
	p := pool.Must(&pool.Options[int]{Shards: 1})
	h := testkit.MustInsert(t, p, 7)
	before := p.Stats().Bytes
	v, ok := p.Get(h)
	require.True(t, ok, "the value should be live")
	require.Equal(t, 7, v)
	require.Equal(t, before, p.Stats().Bytes)
	g := p.Pin()
	g.Unpin()
	require.Greater(t, p.Stats().Bytes, before)
}
