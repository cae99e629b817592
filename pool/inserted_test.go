package pool_test

import (
	"bytes"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// Inserted counts what went live, and nothing else, whatever happens to slots otherwise.
func TestInsertedCountsWhatWentLive(t *testing.T) {
	errNo := errors.New("no")
	for name, o := range map[string]pool.Options[int]{
		"default": {}, "FIFO": {Reuse: pool.FIFO}, "Capacity": {Capacity: 300}, "FIFO, Capacity": {Capacity: 300, Reuse: pool.FIFO},
		"shards": {Shards: 4}, "few lives": {Origin: testkit.LastGeneration - 2*40}, "first generation": {Origin: 1},
		"Preallocate": {Capacity: 300, Preallocate: true}, "Reset": {Reset: func(*int) {}},
	} {
		t.Run(name, func(t *testing.T) {
			refuse := false
			o.OnInsert = func(pool.Handle[int], *int) {
				if refuse {
					panic("no")
				}
			}
			p, want := paired(t, &o), 0
			is := func(what string) {
				t.Helper()
				require.Equal(t, want, int(p.Stats().Inserted), what)
			}
			is("a new pool")
			for round := range 4 {
				hs := testkit.Fill(t, p, 200, testkit.Number)
				want += len(hs)
				is("inserted")
				require.Equal(t, len(hs), p.RemoveBatch(hs))
				require.NoError(t, p.Synchronize(t.Context()))
				is("removed")

				r, err := p.Reserve()
				require.NoError(t, err)
				r.Cancel()
				_, err = p.TryInsertFunc(func(pool.Handle[int], *int) error { return errNo })
				require.ErrorIs(t, err, errNo)
				refuse = true
				require.Panics(t, func() { _, _ = p.Insert(1) })
				refuse = false
				is("what never went live")
				r, err = p.Reserve()
				require.NoError(t, err)
				h := r.Commit()
				want++
				is("a Reservation that was committed")

				w := p.Worker()
				for range 20 {
					h, err := w.Insert(1)
					require.NoError(t, err)
					require.True(t, w.Remove(h))
				}
				want += 20
				w.Close()
				is("a Worker that gave its slots back")
				require.True(t, p.Remove(h))
				require.NoError(t, p.Synchronize(t.Context()))
				if freed := p.Trim(); round == 0 && o.Origin < testkit.LastGeneration/2 && !o.Preallocate {
					require.Positive(t, freed)
				}
				is("pages given up, and slots that burnt a life")
				p.Grow(100) // puts a queue's slots off
				is("grown")
			}

			hs := testkit.Fill(t, p, 100, testkit.Number)
			p.RemoveBatch(hs[50:])
			for range 2 { // what a copy's slots skip adds up
				c, err := pool.ReadFrom(bytes.NewReader(testkit.Written(t, p)), &o)
				require.NoError(t, err)
				p = c
				want = 50
				is("restored")
			}
			require.Equal(t, 25, p.RemoveBatch(hs[:25])) // they skip lives
			require.True(t, p.Remove(hs[25]))
			w := p.Worker()
			require.True(t, w.Remove(hs[26]))
			w.Close()
			is("restored values removed")
			hs = testkit.Fill(t, p, 200, testkit.Number) // and slots that were never used
			want += len(hs)
			is("inserted into a copy")
			p.Clear()
			require.NoError(t, p.Synchronize(t.Context()))
			p.Trim()
			testkit.Fill(t, p, 100, testkit.Number)
			want += 100
			is("after a Trim of a copy")
		})
	}
}

// Beside other calls, Inserted never goes down, and is never more than what was inserted; at rest it is exact.
func TestInsertedBesideOtherCalls(t *testing.T) {
	for _, o := range []pool.Options[int]{{Shards: 2}, {Shards: 2, Capacity: 1000}, {Shards: 1, Reuse: pool.FIFO}} {
		var began atomic.Int64
		o.OnInsert = func(pool.Handle[int], *int) { began.Add(1) } // just before it counts
		p, err := pool.NewTiny(&o, 3)
		require.NoError(t, err)
		stop, others := make(chan struct{}), sync.WaitGroup{}
		loop := func(f func()) {
			others.Add(1)
			go func() {
				defer others.Done()
				for !testkit.IsClosed(stop) {
					f()
					runtime.Gosched()
				}
			}()
		}
		loop(func() {
			var hs []pool.Handle[int]
			for range 400 {
				if h, err := p.Insert(1); err == nil {
					hs = append(hs, h)
				}
			}
			p.RemoveBatch(hs)
		})
		loop(func() {
			for range 100 {
				if r, err := p.Reserve(); err == nil {
					r.Cancel()
				}
			}
		})
		loop(func() {
			w := p.Worker()
			defer w.Close()
			if h, err := w.Insert(1); err == nil {
				w.Remove(h)
			}
		})
		loop(func() { p.Trim() })
		before, calls := int64(0), 0
		for ; calls < testkit.Long(3000) || began.Load() < 10_000; calls++ {
			n := int64(p.Stats().Inserted)
			if most := began.Load(); !assert.LessOrEqual(t, n, most) || !assert.GreaterOrEqual(t, n, before) {
				break
			}
			before = n
			runtime.Gosched()
		}
		close(stop)
		testkit.Within(t, others.Wait)
		require.Equal(t, began.Load(), int64(p.Stats().Inserted), "at rest, after %d calls", calls)
	}
}
