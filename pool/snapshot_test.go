package pool_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/pool"
)

// snapshotOf returns a snapshot of p.
func snapshotOf[T any](t testing.TB, p *pool.Pool[T]) []byte {
	t.Helper()
	var b bytes.Buffer
	n, err := p.WriteTo(&b)
	require.NoError(t, err)
	require.EqualValues(t, b.Len(), n, "the count of bytes")
	return b.Bytes()
}

// copyOf returns a copy of p in pages of two slots.
func copyOf[T any](t testing.TB, p *pool.Pool[T], opts *pool.Options[T]) *pool.Pool[T] {
	t.Helper()
	c, err := pool.ReadTiny(bytes.NewReader(snapshotOf(t, p)), opts, 1)
	require.NoError(t, err)
	return c
}

// contents are the values of p by handle.
func contents[T any](p *pool.Pool[T]) map[pool.Handle[T]]T {
	m := map[pool.Handle[T]]T{}
	for h, v := range p.All() {
		m[h] = *v
	}
	return m
}

// requireCopy requires that c has what p has, and accounts for every slot.
func requireCopy[T any](t testing.TB, p, c *pool.Pool[T]) {
	t.Helper()
	want, got := contents(p), map[pool.Handle[T]]T{}
	require.Equal(t, want, contents(c))
	for h := range want {
		v, ok := c.Get(h)
		if !ok {
			t.Fatalf("%v is lost", h)
		}
		got[h] = v
	}
	require.Equal(t, want, got)
	requireConserved(t, c)
}

// reissues fails the test if c issues one of stale, which are not live, in n
// insertions with removals, while keep values stay alive.
func requireNoReissue[T any](t testing.TB, c *pool.Pool[T], stale map[pool.Handle[T]]bool, n, keep int) {
	t.Helper()
	var v T
	var hs []pool.Handle[T]
	for range n {
		h, err := c.Insert(v)
		if err == nil {
			if stale[h] {
				t.Fatalf("%v was issued by the original", h)
			}
			hs = append(hs, h)
		}
		if len(hs) > keep || err != nil && len(hs) > 0 {
			if !c.Remove(hs[0]) {
				t.Fatalf("Remove(%v)", hs[0])
			}
			hs = hs[1:]
		}
		if err != nil && len(hs) == 0 {
			break
		}
	}
	for h := range stale {
		if c.Contains(h) {
			t.Fatalf("%v came back to life", h)
		}
	}
	c.RemoveBatch(hs)
}

// The types of the round trips.
type (
	// fixed refers to another value, or to none.
	fixed struct {
		ID    uint64
		Self  pool.Handle[fixed]
		To    pool.Handle[fixed]
		ToID  uint64 // what is there, or was
		Score float32
		On    [2]bool
		_     [2]byte
		Names [3]struct {
			A uint8
			B uint16
		}
		C complex64
	}

	// mixed is of all parts, and of some that encode themselves.
	mixed struct {
		Next  *mixed // first, which TestDeepValues makes use of
		Name  string
		Tags  []string
		Nums  []uint16
		Kids  []mixed
		By    map[string]*mixed
		Keys  map[unhashable]int
		Up    **mixed
		Empty []struct{}
		Sets  map[uint8]map[bool]struct{}
		Pairs [2]map[float32][]string
		Blank struct {
			_ [3]func()
			P *[3]string
		}
		When  time.Time
		Inner marshalling
		Moods []*moody
	}

	marshalling struct{ text string } // unexported, and encodes itself
)

func (m marshalling) MarshalBinary() ([]byte, error) { return []byte(m.text), nil }
func (m *marshalling) UnmarshalBinary(b []byte) error {
	if bytes.HasPrefix(b, []byte("bad")) {
		return errBad
	}
	m.text = string(b)
	return nil
}

var errBad = errors.New("bad text")

func fixedOf(i int) fixed {
	v := fixed{ID: uint64(i), To: pool.Handle[fixed](i), Score: float32(i) / 3, C: complex(float32(i), -1)}
	v.On[i%2] = true
	v.Names[2].A, v.Names[2].B = uint8(i), uint16(i)
	return v
}

func moodyOf(i int) moody { return moody{mood: strings.Repeat("x", i%50)} }

func mixedOf(i int) mixed {
	v := mixed{
		Name: fmt.Sprint(i), Tags: []string{"a", fmt.Sprint(i)}, Nums: []uint16{1, 2}, Empty: make([]struct{}, i%100),
		When: time.Unix(1, 0).UTC(), Inner: marshalling{moodyOf(i).mood}, Moods: []*moody{nil, {mood: "good"}},
	}
	for range i % 3 {
		up := &mixed{Kids: []mixed{v}}
		v = mixed{
			Next: &mixed{Name: "next", When: time.Unix(int64(i), 0).UTC()},
			Kids: []mixed{v, {}}, By: map[string]*mixed{"a": {}, "b": nil}, Up: &up,
			Sets: map[uint8]map[bool]struct{}{1: {true: {}}},
		}
		v.Pairs[1] = map[float32][]string{1: {"a"}}
		v.Blank.P = &[3]string{"b"}
	}
	return v
}

// churned fills a pool to some values and holes at all ages, and returns the
// handles that it issued and that are stale.
func churned[T any](t testing.TB, p *pool.Pool[T], n int, value func(int) T) map[pool.Handle[T]]bool {
	t.Helper()
	rnd := newRand(t)
	stale := map[pool.Handle[T]]bool{}
	var live []pool.Handle[T]
	for i := range 6 * n {
		if len(live) >= n || rnd.IntN(3) == 0 && len(live) > 0 {
			k := rnd.IntN(len(live))
			if !p.Remove(live[k]) {
				t.Fatalf("Remove(%v)", live[k])
			}
			stale[live[k]] = true
			live = append(live[:k], live[k+1:]...)
			continue
		}
		h, err := p.Insert(value(i))
		if err != nil {
			continue
		}
		live = append(live, h)
	}
	return stale
}

func testRoundTrip[T any](t *testing.T, value func(int) T) {
	for _, from := range reuses {
		for _, to := range reuses {
			for _, n := range []int{0, 1, 2, 5, long(3000)} {
				t.Run(fmt.Sprintf("%v to %v, %d", from, to, n), func(t *testing.T) {
					p := tiny(t, &pool.Options[T]{Reuse: from, Shards: 3})
					stale := churned(t, p, n, value)
					c := copyOf(t, p, &pool.Options[T]{Reuse: to, Shards: 2})
					requireCopy(t, p, c)
					requireNoReissue(t, c, stale, 10*n+10, n/2)
					again := copyOf(t, c, &pool.Options[T]{Reuse: from, Shards: 5})
					requireCopy(t, c, again)
					requireNoReissue(t, again, stale, 10*n+10, n/2)
					require.Equal(t, c.Len(), again.Clear())
					requireReclaimed(t, again)
				})
			}
		}
	}
}

func TestSnapshotRoundTrip(t *testing.T) {
	t.Run("fixed", func(t *testing.T) { testRoundTrip(t, fixedOf) })
	t.Run("bytes", func(t *testing.T) { testRoundTrip(t, func(i int) [5]byte { return [5]byte{byte(i), 1, byte(i >> 8)} }) })
	t.Run("nothing", func(t *testing.T) { testRoundTrip(t, func(int) struct{} { return struct{}{} }) })
	t.Run("marshaler", func(t *testing.T) { testRoundTrip(t, moodyOf) })
	t.Run("parts", func(t *testing.T) { testRoundTrip(t, mixedOf) })
	t.Run("int", func(t *testing.T) { testRoundTrip(t, number) })
	t.Run("pointer", func(t *testing.T) {
		testRoundTrip(t, func(i int) *mixed {
			if i%3 == 0 {
				return nil
			}
			v := mixedOf(i)
			return &v
		})
	})
	t.Run("slice", func(t *testing.T) {
		testRoundTrip(t, func(i int) []byte { return [][]byte{nil, {}, {0, 1}}[i%3] })
	})
}

// Whoever has a slot at the time of the snapshot, its handle never comes to life in
// the copy, although the original may let it live.
func TestOpenSlotsAreBurned(t *testing.T) {
	for _, reuse := range reuses {
		p := tiny(t, &pool.Options[int]{Reuse: reuse, Shards: 2})
		stale := churned(t, p, 200, number)
		stale[mustReserve(t, p).Handle()] = true // a fresh slot's or a used one's
		w := p.Worker()
		for i := range 200 {
			h, err := w.Insert(i)
			require.NoError(t, err)
			if i%3 > 0 {
				require.True(t, w.Remove(h))
				stale[h] = true
			}
		}
		h := mustInsert(t, p, 1)
		ref, _ := p.Hold(h)
		g := p.Pin()
		p.Remove(h)
		stale[h] = true
		var c *pool.Pool[int]
		_, err := p.InsertFunc(func(h pool.Handle[int], _ *int) {
			stale[h] = true
			c = copyOf(t, p, &pool.Options[int]{Reuse: reuse, Shards: 1})
			stale[h] = true
		})
		require.NoError(t, err)
		for h := range stale {
			require.False(t, c.Contains(h))
		}
		requireNoReissue(t, c, stale, 5000, 300)
		c.Clear()
		requireReclaimed(t, c)
		g.Unpin()
		ref.Release()
		w.Close()
	}
}

func mustReserve[T any](t testing.TB, p *pool.Pool[T]) *pool.Reservation[T] {
	t.Helper()
	r, err := p.Reserve()
	require.NoError(t, err)
	t.Cleanup(r.Cancel)
	return r
}

// Near exhaustion a copy issues no handle that the original issued, however long it
// goes on, and ends exhausted.
func TestCopyIssuesNewHandlesOnly(t *testing.T) {
	for _, reuse := range reuses {
		for _, capacity := range []int{1, 2, 7, 40} {
			for _, origin := range []uint32{lastGeneration, lastGeneration - 2, lastGeneration - 8, lastGeneration - 40} {
				for steps := range 12 {
					opts := &pool.Options[int]{Capacity: capacity, Origin: origin, Reuse: reuse, Shards: 1 + steps%3}
					if reuse == pool.FIFO {
						opts.MinFree = 1 + steps%5
					}
					p := tiny(t, opts)
					issued := map[pool.Handle[int]]bool{}
					var live []pool.Handle[int]
					for i := range steps * capacity {
						h, err := p.Insert(i)
						if err == nil {
							issued[h] = true
							live = append(live, h)
						}
						if len(live) > 0 && (err != nil || i%3 == 0) {
							require.True(t, p.Remove(live[0]))
							live = live[1:]
						}
					}
					opts.Shards = 1 + (steps+1)%4
					c := copyOf(t, p, opts)
					requireCopy(t, p, c)
					require.Equal(t, len(live), c.RemoveBatch(live))
					seen := map[pool.Handle[int]]bool{}
					for {
						h, err := c.Insert(1)
						if err != nil {
							require.ErrorIs(t, err, pool.ErrExhausted)
							break
						}
						require.Falsef(t, issued[h] || seen[h], "%v was issued before", h)
						seen[h] = true
						require.True(t, c.Remove(h))
					}
					st := requireReclaimed(t, c)
					require.Zero(t, st.Live)
				}
			}
		}
	}
}

// A copy takes exactly Capacity values, as a new pool does, whatever the original
// was and however full.
func TestCapacityOfCopyIsExact(t *testing.T) {
	for _, o := range capacityConfigs() {
		for _, filled := range []int{0, 1, o.Capacity / 2, o.Capacity} {
			for _, from := range []pool.Options[int]{o, {Capacity: o.Capacity, Shards: 7, Reuse: o.Reuse, MinFree: o.MinFree}, {Shards: 2}} {
				p := tiny(t, &from)
				live := fill(t, p, filled, number)
				for range 3 {
					p.RemoveBatch(live)
					live = fill(t, p, filled, number)
				}
				c, err := pool.ReadTiny(bytes.NewReader(snapshotOf(t, p)), &o, 1)
				if from.Capacity == 0 && errors.Is(err, pool.ErrFull) {
					continue // its values have indexes that Capacity does not allow
				}
				require.NoError(t, err, "%+v from %+v with %d", o, from, filled)
				requireCopy(t, p, c)
				name := fmt.Sprintf("%+v from %+v with %d", o, from, filled)
				hs := live
				for range 4 {
					for len(hs) < o.Capacity {
						h, err := c.Insert(1)
						require.NoError(t, err, "%s: after %d", name, len(hs))
						hs = append(hs, h)
					}
					requireRefusal(t, c, pool.ErrFull, name)
					require.Equal(t, o.Capacity, c.RemoveBatch(hs))
					hs = nil
				}
				requireReclaimed(t, c)
			}
		}
	}
}

// A copy of a preallocated pool is one too.
func TestPreallocatedCopy(t *testing.T) {
	for _, reuse := range reuses {
		opts := &pool.Options[plain]{Capacity: 100, Preallocate: true, Reuse: reuse, Shards: 2}
		p := pool.Must(&pool.Options[[2]uint64]{Capacity: 100, Preallocate: true, Reuse: reuse, Shards: 2})
		fill(t, p, 60, func(i int) [2]uint64 { return [2]uint64{uint64(i)} })
		c, err := pool.ReadFrom(bytes.NewReader(snapshotOf(t, p)), &pool.Options[[2]uint64]{Capacity: 100, Preallocate: true, Reuse: reuse, Shards: 2})
		require.NoError(t, err)
		requireCopy(t, p, c)
		before := c.Stats()
		require.GreaterOrEqual(t, before.Allocated, opts.Capacity)
		fill(t, c, 40, func(int) [2]uint64 { return [2]uint64{} })
		require.Equal(t, before.Bytes, c.Stats().Bytes)
	}
}

// What Capacity and Origin cannot give is said.
func TestCopyThatDoesNotFit(t *testing.T) {
	p := tiny(t, &pool.Options[int]{Shards: 1, Origin: 5})
	hs := fill(t, p, 20, number)
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
	requireRefusal(t, c, pool.ErrFull, "ten values")
	for _, h := range hs[10:] {
		require.False(t, c.Contains(h))
	}
}

// ReadFrom takes its snapshot from the stream and nothing beyond.
func TestSnapshotsFollowEachOther(t *testing.T) {
	var b bytes.Buffer
	var ps []*pool.Pool[int]
	for n := range 4 {
		p := tiny[int](t, nil)
		fill(t, p, 10*n, number)
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

// What Trim gave up stays given up: no handle of it is live in a copy, and neither
// the copy nor the original issues one again.
func TestSnapshotOfATrimmedPool(t *testing.T) {
	for _, reuse := range reuses {
		opts := &pool.Options[[2]uint64]{Shards: 2, Reuse: reuse}
		if reuse == pool.FIFO {
			opts.MinFree = 2
		}
		p := tiny(t, opts)
		issued := make(map[pool.Handle[[2]uint64]]bool)
		hs := fill(t, p, 400, func(i int) [2]uint64 { return [2]uint64{uint64(i)} })
		for _, h := range hs {
			issued[h] = true
		}
		p.RemoveBatch(hs[7:])
		require.NoError(t, p.Synchronize(context.Background()))
		require.Positive(t, p.Trim())
		var b bytes.Buffer
		_, err := p.WriteTo(&b)
		require.NoError(t, err)
		c, err := pool.ReadTiny(&b, opts, 1)
		require.NoError(t, err)
		for i, h := range hs {
			v, ok := c.Get(h)
			require.Equal(t, i < 7, ok, "%v", h)
			if ok {
				require.EqualValues(t, i, v[0])
			}
		}
		for _, q := range []*pool.Pool[[2]uint64]{p, c} {
			for _, h := range fill(t, q, 600, func(int) [2]uint64 { return [2]uint64{} }) {
				require.False(t, issued[h], "%v was issued again", h)
			}
			requireReclaimed(t, q)
		}
	}
}
