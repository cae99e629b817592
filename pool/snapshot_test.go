package pool_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"
	"golang.org/x/sync/errgroup"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// testRoundTrip copies pools of values, with vacant slots between them. What becomes of handles
// is for the model test.
func testRoundTrip[T any](t *testing.T, most int, value func(int) T) {
	for _, reuse := range testkit.Reuses {
		p := testkit.Tiny(t, &pool.Options[T]{Reuse: reuse, Shards: 3})
		hs := testkit.Fill(t, p, most, value)
		p.RemoveBatch(hs[most/3 : most/2])
		requireCopy(t, p, copyOf(t, p, &pool.Options[T]{Reuse: reuse, Shards: 2}))
	}
}

// What an encoding makes of values of other kinds is for package codec's tests.
func TestSnapshotRoundTrip(t *testing.T) {
	t.Run("fixed", func(t *testing.T) { testRoundTrip(t, testkit.Long(3000), fixedOf) })
	t.Run("nothing", func(t *testing.T) { testRoundTrip(t, testkit.Long(3000), func(int) struct{} { return struct{}{} }) })
	t.Run("marshaler", func(t *testing.T) { testRoundTrip(t, 100, moodyOf) })
	t.Run("parts", func(t *testing.T) { testRoundTrip(t, 100, mixedOf) })
	t.Run("int", func(t *testing.T) { testRoundTrip(t, testkit.Long(3000), testkit.Number) })
	t.Run("slice", func(t *testing.T) {
		testRoundTrip(t, 100, func(i int) []byte { return [][]byte{nil, {}, {0, 1}}[i%3] })
	})
}

// A copy takes exactly Capacity values, as a new pool does, whatever the original
// was and however full.
func TestCapacityOfCopyIsExact(t *testing.T) {
	for _, o := range testkit.CapacityConfigs() {
		for _, filled := range []int{0, 1, o.Capacity / 2, o.Capacity} {
			for _, from := range []pool.Options[int]{o, {Capacity: o.Capacity, Shards: 7, Reuse: o.Reuse, MinFree: o.MinFree}, {Shards: 2}} {
				p := testkit.Tiny(t, &from)
				live := testkit.Fill(t, p, filled, testkit.Number)
				for range 3 {
					p.RemoveBatch(live)
					live = testkit.Fill(t, p, filled, testkit.Number)
				}
				c, err := pool.ReadTiny(bytes.NewReader(snapshotOf(t, p)), &o, 1)
				if from.Capacity == 0 && errors.Is(err, pool.ErrFull) {
					continue // its values have indexes that Capacity does not allow
				}
				require.NoError(t, err, "%+v from %+v with %d", o, from, filled)
				requireCopy(t, p, c)
				name := fmt.Sprintf("%+v from %+v with %d", o, from, filled)
				hs := live
				for range 2 {
					for len(hs) < o.Capacity {
						h, err := c.Insert(1)
						require.NoError(t, err, "%s: after %d", name, len(hs))
						hs = append(hs, h)
					}
					testkit.RequireRefusal(t, c, pool.ErrFull, name)
					require.Equal(t, o.Capacity, c.RemoveBatch(hs))
					hs = nil
				}
				testkit.RequireReclaimed(t, c)
			}
		}
	}
}

// A copy of a preallocated pool is one too.
func TestPreallocatedCopy(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		opts := &pool.Options[[2]uint64]{Capacity: 100, Preallocate: true, Reuse: reuse, Shards: 2}
		p := pool.Must(opts)
		testkit.Fill(t, p, 60, func(i int) [2]uint64 { return [2]uint64{uint64(i)} })
		c, err := pool.ReadFrom(bytes.NewReader(snapshotOf(t, p)), opts)
		require.NoError(t, err)
		requireCopy(t, p, c)
		before := c.Stats()
		require.GreaterOrEqual(t, before.Allocated, opts.Capacity)
		testkit.Fill(t, c, 40, func(int) [2]uint64 { return [2]uint64{} })
		require.Equal(t, before.Bytes, c.Stats().Bytes)
	}
}

// ReadFrom returns an error that says which option does not fit.
func TestCopyThatDoesNotFit(t *testing.T) {
	p := testkit.Tiny(t, &pool.Options[int]{Shards: 1, Origin: 5})
	hs := testkit.Fill(t, p, 20, testkit.Number)
	snapshot := snapshotOf(t, p)
	_, err := pool.ReadFrom(bytes.NewReader(snapshot), &pool.Options[int]{Capacity: 19})
	require.ErrorIs(t, err, pool.ErrFull)
	assert.ErrorContains(t, err, "Options.Capacity is 19: the value 19@5 lies beyond its 19 slots")
	_, err = pool.ReadFrom(bytes.NewReader(snapshot), &pool.Options[int]{Capacity: 19, Reuse: pool.FIFO})
	require.ErrorIs(t, err, pool.ErrFull)
	assert.ErrorContains(t, err, "there are 20 values")
	_, err = pool.ReadFrom(bytes.NewReader(snapshot), &pool.Options[int]{Origin: 7})
	assert.EqualError(t, err, "pool: Options.Origin is 7; the snapshot's pool began at 5")
	_, err = pool.ReadFrom(bytes.NewReader(snapshot), &pool.Options[int]{Origin: 4}) // 4|1
	require.NoError(t, err)
	_, err = pool.ReadFrom(bytes.NewReader(snapshot), &pool.Options[int]{Capacity: -1})
	assert.ErrorContains(t, err, "Options.Capacity")

	// What is vacant beyond the last value needs no slot.
	require.Equal(t, 10, p.RemoveBatch(hs[10:]))
	c, err := pool.ReadFrom(bytes.NewReader(snapshotOf(t, p)), &pool.Options[int]{Capacity: 10})
	require.NoError(t, err)
	requireCopy(t, p, c)
	testkit.RequireRefusal(t, c, pool.ErrFull, "ten values")
	for _, h := range hs[10:] {
		require.False(t, c.Contains(h))
	}
}

// ReadFrom takes its snapshot from the stream and nothing beyond.
func TestSnapshotsFollowEachOther(t *testing.T) {
	var b bytes.Buffer
	var ps []*pool.Pool[int]
	for n := range 4 {
		p := testkit.Tiny[int](t, nil)
		testkit.Fill(t, p, 10*n, testkit.Number)
		_, err := p.WriteTo(&b)
		require.NoError(t, err)
		ps = append(ps, p)
	}
	b.WriteString("and more")
	for _, p := range ps {
		c, err := pool.ReadFrom[int](&b, nil)
		require.NoError(t, err)
		requireCopy(t, p, c)
	}
	rest, _ := io.ReadAll(&b)
	require.Equal(t, "and more", string(rest))
}

// A handle that comes to be known during the snapshot, of a slot that was written
// already, must not wait in the copy for that slot to come to its generation. One
// look at each slot would let it: this is what the second is for.
func TestNoHandleInACopyComesToName(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		for lives := range 5 {
			for _, vacant := range []bool{true, false} {
				for at := range 12 {
					p := testkit.Tiny(t, &pool.Options[fixed]{Reuse: reuse, MinFree: min(1, int(reuse)), Shards: 1})
					hs := testkit.Fill(t, p, 20, func(i int) fixed { return fixed{ID: uint64(i + 1)} })
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
							h, id = testkit.MustInsert(t, p, fixed{ID: 99}), 99
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
		hs := testkit.Fill(t, c, 40, func(int) fixed { return fixed{ID: 1 << 40} })
		require.False(t, c.Contains(v.To), "%v came to life", v.To)
		require.Equal(t, len(hs), c.RemoveBatch(hs))
	}
}

// A value that was seen live is encoded as that incarnation, also if it is removed first: its
// slot waits for the snapshot's pin.
func TestSnapshotPinsWhatItEncodes(t *testing.T) {
	p := testkit.Tiny(t, &pool.Options[moody]{Capacity: 2, Shards: 1})
	meddled := 0
	var next pool.Handle[moody]
	meddle := func() {
		meddled++
		require.True(t, p.Remove(next))
		_, err := p.Insert(moody{mood: "another"})
		require.ErrorIs(t, err, pool.ErrStalled, "the slot is reused while it is encoded")
	}
	h := testkit.MustInsert(t, p, moody{"first", meddle})
	next = testkit.MustInsert(t, p, moody{mood: "second"})
	c := copyOf(t, p, nil)
	require.Equal(t, 1, meddled)
	v, ok := c.Get(h)
	require.True(t, ok)
	require.Equal(t, "first", v.mood)
	require.False(t, c.Contains(next), "it was removed before the second look")
	testkit.MustInsert(t, p, moody{mood: "another"})
}

// A snapshot while others insert and remove: what lives throughout is in it, each
// value is whole, and each reference is right or dead.
func TestSnapshotWhileOthersChange(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		t.Run(reuse.String(), func(t *testing.T) {
			p := testkit.Tiny(t, &pool.Options[fixed]{Reuse: reuse, Shards: 3})
			stay := testkit.Fill(t, p, 300, func(i int) fixed { return fixed{ID: uint64(i + 1)} })
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
			require.Eventually(t, func() bool { return removed.Load() > 0 }, time.Minute, time.Millisecond, "nothing is removed")
			enough := time.Now().Add(2 * time.Second) // on a loaded machine, for fewer snapshots
			for n := 0; n < testkit.Long(30) && (n < 2 || time.Now().Before(enough)); n++ {
				var b bytes.Buffer
				_, err := p.WriteTo(&slow{w: &b})
				require.NoError(t, err)
				c, err := pool.ReadTiny(&b, &pool.Options[fixed]{Shards: 2}, 1)
				require.NoError(t, err)
				requireRight(t, c, stay)
			}
			stop.Store(true)
			require.NoError(t, g.Wait())
			c := copyOf(t, p, nil) // nothing changes
			requireCopy(t, p, c)
		})
	}
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
		hs := testkit.Fill(t, c, 400, func(int) fixed { return fixed{} })
		for to := range refs {
			require.False(t, c.Contains(to), "%v came to life", to)
		}
		require.Equal(t, len(hs), c.RemoveBatch(hs))
	}
	testkit.RequireConserved(t, c)
}
