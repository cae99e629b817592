package ordinary_test

import (
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

func TestStatsTellEveryState(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		p := testkit.Tiny(t, &pool.Options[int]{Shards: 1, Reuse: reuse, Origin: testkit.LastGeneration - 4})
		st := testkit.RequireConserved(t, p)
		require.Zero(t, st.Live+st.Limbo+st.Reserved+st.Cached+st.Exhausted+st.Held)

		hs := testkit.Fill(t, p, 10, testkit.Number)
		require.Equal(t, 10, testkit.RequireConserved(t, p).Live)

		r, err := p.Reserve()
		require.NoError(t, err)
		require.Equal(t, 1, testkit.RequireConserved(t, p).Reserved)
		s, err := p.Reserve()
		require.NoError(t, err)
		require.Equal(t, 2, testkit.RequireConserved(t, p).Reserved)
		s.Cancel()
		require.Equal(t, 1, testkit.RequireConserved(t, p).Reserved)

		g := p.Pin()
		before := testkit.RequireConserved(t, p)
		p.RemoveBatch(hs[:4])
		st = testkit.RequireConserved(t, p)
		require.Equal(t, before.Limbo+4, st.Limbo)
		require.Equal(t, 6, st.Live)
		require.Equal(t, 1, st.Pinned)
		h := p.Pin()
		require.Equal(t, 2, testkit.RequireConserved(t, p).Pinned)
		h.Unpin()
		g.Unpin()
		require.Zero(t, testkit.RequireConserved(t, p).Pinned)

		require.NoError(t, p.Synchronize(testkit.Done()))
		require.Zero(t, testkit.RequireConserved(t, p).Limbo)
		hs[0] = r.Commit()
		require.Equal(t, 7, testkit.RequireConserved(t, p).Live)

		for testkit.RequireConserved(t, p).Exhausted < 3 {
			require.True(t, p.Remove(testkit.MustInsert(t, p, 1)))
		}
		require.Equal(t, 7, p.Clear())
		st = testkit.RequireReclaimed(t, p)
		require.Equal(t, st.Allocated, st.Free+st.Exhausted)
	}
}

// The oldest pin's age in epochs names a guard that was forgotten.
func TestStatsShowAForgottenGuard(t *testing.T) {
	p := testkit.Tiny(t, &pool.Options[int]{Shards: 1})
	g := p.Pin()
	require.Zero(t, p.Stats().OldestPin)
	before := p.Stats().Epoch
	w := p.Worker()
	defer w.Close()
	for range 1000 {
		h, err := w.Insert(1)
		require.NoError(t, err)
		require.True(t, w.Remove(h))
	}
	st := p.Stats()
	require.Greater(t, st.Epoch, before)
	require.Equal(t, st.Epoch-before, st.OldestPin)
	young := p.Pin()
	require.Equal(t, 2, p.Stats().Pinned)
	require.Equal(t, st.Epoch-before, p.Stats().OldestPin)
	g.Unpin()
	require.Zero(t, p.Stats().OldestPin)
	young.Unpin()
}

func TestBytesGrowWithThePool(t *testing.T) {
	p := pool.Must[[2]uint64](nil)
	before := p.Stats()
	testkit.Fill(t, p, 100_000, func(int) [2]uint64 { return [2]uint64{} })
	st := p.Stats()
	require.GreaterOrEqual(t, st.Bytes-before.Bytes, int64(st.Allocated)*24)
	require.LessOrEqual(t, st.Bytes-before.Bytes, int64(st.Allocated)*25)
	require.Equal(t, 100_000, p.Len())
	require.Less(t, st.Allocated, 110_000)
}

// Worn is that of the most worn slot: others do not hide it.
func TestStatsTellTheMostWornSlot(t *testing.T) {
	p := testkit.Tiny(t, &pool.Options[int]{Shards: 1, Origin: testkit.LastGeneration - 6}) // four lives
	require.Zero(t, p.Stats().Worn)
	testkit.Fill(t, p, 3, testkit.Number)
	require.Equal(t, 0.25, p.Stats().Worn)
	for _, want := range []float64{0.25, 0.5, 0.75, 1} {
		h := testkit.MustInsert(t, p, 1)
		require.Equal(t, want, p.Stats().Worn, "while %v is live", h)
		require.True(t, p.Remove(h))
		require.NoError(t, p.Synchronize(testkit.Done()))
		require.Equal(t, want, p.Stats().Worn, "after %v", h)
	}
	require.Equal(t, 1, p.Stats().Exhausted)
}

func TestStatsTellTheCapacity(t *testing.T) {
	require.Equal(t, 7, pool.Must(&pool.Options[int]{Capacity: 7}).Stats().Capacity)
	require.Equal(t, pool.MaxCapacity, pool.Must[int](nil).Stats().Capacity)
}

// LogValue has every field of Stats.
func TestStatsLogEveryField(t *testing.T) {
	var st pool.Stats
	fields := reflect.ValueOf(&st).Elem()
	for i := range fields.NumField() {
		fields.Field(i).Set(reflect.ValueOf(i + 1).Convert(fields.Field(i).Type()))
	}
	logged := make(map[string]float64)
	for _, a := range st.LogValue().Group() {
		logged[strings.ToLower(a.Key)] = reflect.ValueOf(a.Value.Any()).Convert(reflect.TypeFor[float64]()).Float()
	}
	require.Len(t, logged, fields.NumField())
	for i := range fields.NumField() {
		require.Equal(t, float64(i+1), logged[strings.ToLower(fields.Type().Field(i).Name)], fields.Type().Field(i).Name)
	}
	require.Equal(t, slog.KindGroup, slog.AnyValue(st).Resolve().Kind())
}
