//go:build go1.25

package pool_test

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// waitAndRemove fills p, has a call wait for a slot in each bubble, and frees one.
func waitAndRemove(t *testing.T, p *pool.Pool[int]) {
	hs := testkit.Fill(t, p, p.Cap(), testkit.Number)
	ended := make(chan outcome, 2)
	for range 2 {
		go func() {
			h, err := p.InsertWait(t.Context(), 7)
			ended <- outcome{h, err}
		}()
	}
	for range 2 {
		time.Sleep(time.Minute) // longer than the pauses of a call that polls
		require.Empty(t, ended)
		require.True(t, p.Remove(hs[0]))
		hs = hs[1:]
		o := <-ended
		require.NoError(t, o.err)
	}
	p.Clear()
}

// TestBubblesShareAPool: one after the other, calls of each wait for slots.
func TestBubblesShareAPool(t *testing.T) {
	p := pool.Must(&pool.Options[int]{Capacity: 3})
	for range 3 {
		synctest.Test(t, func(t *testing.T) { waitAndRemove(t, p) })
	}
	hs := testkit.Fill(t, p, p.Cap(), testkit.Number)
	ended := waiting(t, p, t.Context(), 1)
	p.Remove(hs[0])
	require.NoError(t, woken(t, ended).err)
}

// TestRemovalFromOutsideTellsWhere: what a call in a bubble waits for must happen in its bubble. Else
// Go's runtime ends the program, and its text leads to the removal.
func TestRemovalFromOutsideTellsWhere(t *testing.T) {
	const within = "COATCHECK_OUTSIDE"
	if os.Getenv(within) == "" {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRemovalFromOutsideTellsWhere$")
		child.Env = append(os.Environ(), within+"=1")
		out, ok := testkit.Run(t, child)
		require.False(t, ok, "it ended well:\n%s", out)
		require.Contains(t, out, "fatal error: send on synctest channel from outside bubble")
		require.Contains(t, out, "removeFromOutside")
		return
	}
	p := pool.Must(&pool.Options[int]{Capacity: 1})
	h := testkit.MustInsert(t, p, 1)
	sleeps, removed := make(chan struct{}), make(chan struct{})
	go func() {
		<-sleeps
		removeFromOutside(p, h)
		close(removed)
	}()
	synctest.Test(t, func(t *testing.T) {
		go func() { _, _ = p.InsertWait(t.Context(), 2) }()
		synctest.Wait()
		close(sleeps)
		<-removed
	})
}

func removeFromOutside(p *pool.Pool[int], h pool.Handle[int]) { p.Remove(h) }

// TestVirtualHoursAreShort: a call that waits for a guard polls, which costs real time.
func TestVirtualHoursAreShort(t *testing.T) {
	p := pool.Must(&pool.Options[int]{Capacity: 1})
	for name, wait := range map[string]func(ctx context.Context) error{
		"InsertWait":  func(ctx context.Context) error { _, err := p.InsertWait(ctx, 1); return err },
		"Synchronize": p.Synchronize,
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			synctest.Test(t, func(t *testing.T) {
				h := testkit.MustInsert(t, p, 0)
				g := p.Pin()
				p.Remove(h)
				ctx, cancel := context.WithTimeout(t.Context(), 4*time.Hour)
				defer cancel()
				began := time.Now()
				require.ErrorIs(t, wait(ctx), context.DeadlineExceeded)
				require.Equal(t, 4*time.Hour, time.Since(began), "it ends with its ctx")
				g.Unpin()
				require.NoError(t, p.Synchronize(t.Context()))
			})
			t.Log(time.Since(began))
		})
	}
}

// TestAgesAreOfOneClock: each bubble has a clock of its own.
func TestAgesAreOfOneClock(t *testing.T) {
	p := pool.Must[int](nil)
	g := p.Pin()
	defer g.Unpin()
	p.Remove(testkit.MustInsert(t, p, 1))
	inOrder := func(t *testing.T, most time.Duration) {
		age := p.Stats().PinAge
		require.GreaterOrEqual(t, age, time.Duration(0))
		require.LessOrEqual(t, age, most)
	}
	inOrder(t, time.Hour)
	for _, slept := range []time.Duration{10 * time.Hour, time.Hour, 20 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			inOrder(t, time.Hour)
			time.Sleep(slept)
			inOrder(t, slept)
		})
		inOrder(t, time.Hour)
	}
	synctest.Test(t, func(t *testing.T) {
		p := pool.Must[int](nil)
		g := p.Pin()
		defer g.Unpin()
		require.Zero(t, p.Stats().PinAge)
		time.Sleep(time.Hour)
		require.Equal(t, time.Hour, p.Stats().PinAge)
	})
}

// TestCollectorWakesNoBubble: the collector gives back what was dropped, on a goroutine that is in no
// bubble. It must not wake a call within one, which would end the program.
func TestCollectorWakesNoBubble(t *testing.T) {
	for name, drop := range map[string]func(p *pool.Pool[int]){
		"Reservation": func(p *pool.Pool[int]) { _, _ = p.Reserve() },
		"Worker":      func(p *pool.Pool[int]) { cachedRest(t, p, p.Worker()) },
	} {
		t.Run(name, func(t *testing.T) {
			p := pool.Must(&pool.Options[int]{Capacity: 1024, Shards: 1})
			testkit.Apart(func() { drop(p) })
			testkit.Fill(t, p, p.Cap()-p.Stats().Live-p.Stats().Reserved-p.Stats().Cached, testkit.Number)
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() {
					_, err := p.InsertWait(ctx, 1)
					ended <- err
				}()
				synctest.Wait()
				for st := p.Stats(); st.Reserved+st.Workers > 0; st = p.Stats() { // the virtual clock stands still meanwhile
					runtime.GC()
				}
				cancel()
				require.NoError(t, <-ended, "its last look finds the slot")
			})
		})
	}
}

// Each call that waits counts, and for how long: one that waits now, one that got a slot, and one that
// got none. A call that finds a slot at once does not.
func TestStatsCountWhoWaits(t *testing.T) {
	p := pool.Must(&pool.Options[int]{Capacity: 2})
	requireWaits := func(t *testing.T, waiting, waited int, lasted time.Duration) {
		t.Helper()
		st := p.Stats()
		require.Equal(t, []any{waiting, waited, lasted}, []any{st.Waiting, st.Waited, st.WaitedFor})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		h, _ := p.InsertWait(ctx, 1)
		_, _ = p.InsertWait(ctx, 2)
		requireWaits(t, 0, 0, 0)
		for range 3 {
			go func() { _, _ = p.InsertWait(ctx, 3) }()
			time.Sleep(time.Hour)
		}
		requireWaits(t, 3, 3, 6*time.Hour)
		p.Remove(h)
		synctest.Wait()
		requireWaits(t, 2, 3, 6*time.Hour)
		time.Sleep(time.Hour)
		requireWaits(t, 2, 3, 8*time.Hour)
		cancel()
		synctest.Wait()
		time.Sleep(time.Hour)
		requireWaits(t, 0, 3, 8*time.Hour)
		p.Clear()
	})
	requireWaits(t, 0, 3, 8*time.Hour)
}

// A call that waits by another clock than the reader's has waited for no time yet.
func TestWaitsAreOfOneClock(t *testing.T) {
	p := pool.Must(&pool.Options[int]{Capacity: 1})
	h := testkit.MustInsert(t, p, 1)
	sleeps, read := make(chan struct{}), make(chan pool.Stats)
	go func() {
		<-sleeps
		read <- p.Stats()
	}()
	synctest.Test(t, func(t *testing.T) {
		go func() { _, _ = p.InsertWait(t.Context(), 2) }()
		time.Sleep(time.Hour)
		close(sleeps)
		outside := <-read
		require.Equal(t, 1, outside.Waiting)
		require.Zero(t, outside.WaitedFor)
		require.Equal(t, time.Hour, p.Stats().WaitedFor)
		p.Remove(h)
		synctest.Wait()
	})
	require.Equal(t, time.Hour, p.Stats().WaitedFor)
}
