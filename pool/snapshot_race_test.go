package pool_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"
	"golang.org/x/sync/errgroup"

	"coatcheck/pool"
)

// during is a writer that does something before a snapshot's n-th record is
// written: nothing is pinned then.
type during struct {
	bytes.Buffer
	n  int
	do func()
}

func (w *during) Write(b []byte) (int, error) {
	if w.n--; w.n == 0 {
		w.do()
	}
	return w.Buffer.Write(b)
}

// A handle that comes to be known during the snapshot, of a slot that was written
// already, must not wait in the copy for that slot to come to its generation. One
// look at each slot would let it: this is what the second is for.
func TestNoHandleInACopyComesToName(t *testing.T) {
	for _, reuse := range reuses {
		for lives := range 5 {
			for _, vacant := range []bool{true, false} {
				for at := range 12 {
					p := tiny(t, &pool.Options[fixed]{Reuse: reuse, MinFree: min(1, int(reuse)), Shards: 1})
					hs := fill(t, p, 20, func(i int) fixed { return fixed{ID: uint64(i + 1)} })
					if vacant {
						p.RemoveBatch(hs[:4])
						require.NoError(t, p.Synchronize(context.Background()))
					}
					w := &during{n: at}
					w.do = func() {
						h, id := hs[0], uint64(1)
						for range lives {
							p.Remove(h)
							require.NoError(t, p.Synchronize(context.Background()))
							h, id = mustInsert(t, p, fixed{ID: 99}), 99
						}
						p.View(hs[19], func(v *fixed) { v.To, v.ToID = h, id })
					}
					_, err := p.WriteTo(w)
					require.NoError(t, err)
					c, err := pool.ReadTiny(w, &pool.Options[fixed]{Shards: 1}, 1)
					require.NoError(t, err)
					last, ok := c.Get(hs[19])
					require.True(t, ok)
					requireNothingElse(t, c, last)
				}
			}
		}
	}
}

// requireNothingElse requires that what v refers to is what it did refer to, or
// nothing for ever.
func requireNothingElse(t *testing.T, c *pool.Pool[fixed], v fixed) {
	t.Helper()
	if to, ok := c.Get(v.To); ok {
		require.Equal(t, v.ToID, to.ID, "%v", v.To)
		require.True(t, c.Remove(v.To))
	}
	for range 5 {
		hs := fill(t, c, 40, func(int) fixed { return fixed{ID: 1 << 40} })
		require.False(t, c.Contains(v.To), "%v came to life", v.To)
		require.Equal(t, len(hs), c.RemoveBatch(hs))
	}
}

// What was seen live is encoded as that incarnation, also when it is removed
// before its turn: its slot waits for the snapshot's pin.
func TestSnapshotPinsWhatItEncodes(t *testing.T) {
	p := tiny(t, &pool.Options[moody]{Capacity: 2, Shards: 1})
	meddled := 0
	var next pool.Handle[moody]
	meddle := func() {
		meddled++
		require.True(t, p.Remove(next))
		_, err := p.Insert(moody{mood: "another"})
		require.ErrorIs(t, err, pool.ErrStalled, "the slot is reused while it is encoded")
	}
	h := mustInsert(t, p, moody{"first", meddle})
	next = mustInsert(t, p, moody{mood: "second"})
	c := copyOf(t, p, nil)
	require.Equal(t, 1, meddled)
	v, ok := c.Get(h)
	require.True(t, ok)
	require.Equal(t, "first", v.mood)
	require.False(t, c.Contains(next), "it was removed before the second look")
	mustInsert(t, p, moody{mood: "another"})
}

// A snapshot while others insert and remove: what lives throughout is in it, each
// value is whole, and each reference is right or dead.
func TestSnapshotWhileOthersChange(t *testing.T) {
	for _, reuse := range reuses {
		t.Run(reuse.String(), func(t *testing.T) {
			p := tiny(t, &pool.Options[fixed]{Reuse: reuse, Shards: 3})
			stay := fill(t, p, 300, func(i int) fixed { return fixed{ID: uint64(i + 1)} })
			var ids atomic.Uint64
			ids.Store(1000)
			var stop atomic.Bool
			var known [64]atomic.Uint64 // handles that may live
			var removed atomic.Int64
			var g errgroup.Group
			for k := range 8 {
				g.Go(func() error {
					rnd := rand.New(rand.NewPCG(uint64(k), 1))
					var mine []pool.Handle[fixed]
					for n := 0; !stop.Load(); n++ {
						to := pool.Handle[fixed](known[rnd.IntN(len(known))].Load())
						v, ok := p.Get(to)
						if !ok {
							to = 0
						}
						h, err := p.InsertFunc(func(h pool.Handle[fixed], in *fixed) {
							*in = fixed{ID: ids.Inc(), Self: h, To: to, ToID: v.ID}
						})
						if err != nil {
							return err
						}
						known[rnd.IntN(len(known))].Store(uint64(h))
						if mine = append(mine, h); len(mine) > 20 {
							i := rnd.IntN(len(mine))
							if !p.Remove(mine[i]) {
								return fmt.Errorf("lost %v", mine[i])
							}
							removed.Inc()
							mine[i] = mine[len(mine)-1]
							mine = mine[:len(mine)-1]
						}
						if n%16 == 0 {
							runtime.Gosched()
						}
					}
					return nil
				})
			}
			require.Eventually(t, func() bool { return removed.Load() > 0 }, time.Minute, time.Millisecond, "nobody removes anything")
			enough := time.Now().Add(2 * time.Second) // on a loaded machine, for fewer snapshots
			for n := 0; n < long(30) && (n < 2 || time.Now().Before(enough)); n++ {
				var b bytes.Buffer
				_, err := p.WriteTo(&slow{w: &b})
				require.NoError(t, err)
				c, err := pool.ReadTiny(&b, &pool.Options[fixed]{Shards: 2}, 1)
				require.NoError(t, err)
				requireRight(t, c, stay)
			}
			stop.Store(true)
			require.NoError(t, g.Wait())
			c := copyOf(t, p, nil) // nobody changes anything
			requireCopy(t, p, c)
		})
	}
}

// slow is a writer that lets others run now and then. Each time may take as long
// as all of them want to run.
type slow struct {
	w      io.Writer
	writes int
}

func (s *slow) Write(b []byte) (int, error) {
	if s.writes++; s.writes%16 == 0 {
		runtime.Gosched()
	}
	return s.w.Write(b)
}

// requireRight requires that c has stay, and that nothing in it refers to another
// value than it did, now and later.
func requireRight(t *testing.T, c *pool.Pool[fixed], stay []pool.Handle[fixed]) {
	t.Helper()
	for i, h := range stay {
		v, ok := c.Get(h)
		require.True(t, ok, "%v lives throughout", h)
		require.EqualValues(t, i+1, v.ID)
	}
	values := contents(c)
	refs := map[pool.Handle[fixed]]uint64{}
	for h, v := range values {
		if v.ID > 1000 {
			require.Equal(t, h, v.Self, "a value in another's slot")
			refs[v.To] = v.ToID
		}
	}
	delete(refs, 0)
	for to, id := range refs {
		if v, ok := values[to]; ok {
			require.Equal(t, id, v.ID, "%v names another value", to)
			delete(refs, to)
		}
	}
	for range 4 {
		hs := fill(t, c, 400, func(int) fixed { return fixed{} })
		for to := range refs {
			require.False(t, c.Contains(to), "%v came to life", to)
		}
		require.Equal(t, len(hs), c.RemoveBatch(hs))
	}
	requireConserved(t, c)
}
