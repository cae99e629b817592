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

// Worn is that of the most worn slot: others do not hide it.
func TestStatsTellTheMostWornSlot(t *testing.T) {
	p := tiny(t, &pool.Options[int]{Shards: 1, Origin: testkit.LastGeneration - 6}) // four lives
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
