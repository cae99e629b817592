package pool_test

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
	for _, reuse := range reuses {
		p := tiny(t, &pool.Options[int]{Shards: 1, Reuse: reuse, Origin: lastGeneration - 4})
		st := requireConserved(t, p)
		require.Zero(t, st.Live+st.Limbo+st.Reserved+st.Cached+st.Exhausted+st.Held)

		hs := fill(t, p, 10, number)
		require.Equal(t, 10, requireConserved(t, p).Live)

		r, err := p.Reserve()
		require.NoError(t, err)
		require.Equal(t, 1, requireConserved(t, p).Reserved)
		s, err := p.Reserve()
		require.NoError(t, err)
		require.Equal(t, 2, requireConserved(t, p).Reserved)
		s.Cancel()
		require.Equal(t, 1, requireConserved(t, p).Reserved)

		g := p.Pin()
		before := requireConserved(t, p)
		p.RemoveBatch(hs[:4])
		st = requireConserved(t, p)
		require.Equal(t, before.Limbo+4, st.Limbo)
		require.Equal(t, 6, st.Live)
		require.Equal(t, 1, st.Pinned)
		h := p.Pin()
		require.Equal(t, 2, requireConserved(t, p).Pinned)
		h.Unpin()
		g.Unpin()
		require.Zero(t, requireConserved(t, p).Pinned)

		require.NoError(t, p.Synchronize(testkit.Done()))
		require.Zero(t, requireConserved(t, p).Limbo)
		hs[0] = r.Commit()
		require.Equal(t, 7, requireConserved(t, p).Live)

		for requireConserved(t, p).Exhausted < 3 {
			require.True(t, p.Remove(mustInsert(t, p, 1)))
		}
		require.Equal(t, 7, p.Clear())
		st = requireReclaimed(t, p)
		require.Equal(t, st.Allocated, st.Free+st.Exhausted)
	}
}

// Cached is what the Workers' owners could insert without the pool's help.
func TestStatsCountWhatWorkersKeep(t *testing.T) {
	p := tiny(t, &pool.Options[int]{Shards: 1})
	ws := []*pool.Worker[int]{p.Worker(), p.Worker()}
	require.Zero(t, requireConserved(t, p).Cached)
	for k, w := range ws {
		hs := make([]pool.Handle[int], 20)
		for i := range hs {
			hs[i], _ = w.Insert(1)
		}
		for _, h := range hs {
			require.True(t, w.Remove(h))
		}
		st := requireConserved(t, p)
		require.GreaterOrEqual(t, st.Cached, 20*(k+1))
		require.Zero(t, st.Live)
	}
	ws[0].Flush()
	st := requireConserved(t, p)
	require.GreaterOrEqual(t, st.Cached, 20)
	ws[0].Close()
	ws[1].Close()
	require.Zero(t, requireConserved(t, p).Cached)
	requireReclaimed(t, p)
}

// The oldest pin's age in epochs names a guard that was forgotten.
func TestStatsShowAForgottenGuard(t *testing.T) {
	p := tiny(t, &pool.Options[int]{Shards: 1})
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
	fill(t, p, 100_000, func(int) [2]uint64 { return [2]uint64{} })
	st := p.Stats()
	require.GreaterOrEqual(t, st.Bytes-before.Bytes, int64(st.Allocated)*24)
	require.LessOrEqual(t, st.Bytes-before.Bytes, int64(st.Allocated)*25)
	require.Equal(t, 100_000, p.Len())
	require.Less(t, st.Allocated, 110_000)
}

// A slot that is used again and again wears out; those beside it do not hide that.
func TestStatsTellTheMostWornSlot(t *testing.T) {
	p := tiny(t, &pool.Options[int]{Shards: 1, Origin: lastGeneration - 6}) // four lives
	require.Zero(t, p.Stats().Worn)
	fill(t, p, 3, number)
	require.Equal(t, 0.25, p.Stats().Worn)
	for _, want := range []float64{0.25, 0.5, 0.75, 1} {
		h := mustInsert(t, p, 1)
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

// A field that is added to Stats must not be forgotten in the log.
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
