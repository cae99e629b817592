package poolotel_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"coatcheck/pool"
	"coatcheck/pool/metrics/internal/metricstest"
	"coatcheck/pool/metrics/poolotel"
	"coatcheck/pool/poolhttp"
)

// collect reads all metrics. It returns the value of each series of the named pool by
// name, unit, kind and state.
func collect(t *testing.T, reader sdk.Reader, name string) map[string]float64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(context.Background(), &all))
	values := make(map[string]float64)
	for _, scope := range all.ScopeMetrics {
		require.Equal(t, "coatcheck/pool/metrics/poolotel", scope.Scope.Name)
		for _, m := range scope.Metrics {
			require.NotEmpty(t, m.Description)
			note := func(kind string, with attribute.Set, v float64) {
				if is, _ := with.Value(poolotel.Name); is.AsString() == name {
					state, _ := with.Value(poolotel.State)
					values[fmt.Sprintf("%s %s %s%s", m.Name, m.Unit, kind, state.AsString())] = v
				}
			}
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				require.Equal(t, metricdata.CumulativeTemporality, data.Temporality)
				for _, p := range data.DataPoints {
					note(map[bool]string{true: "counter", false: "up-down"}[data.IsMonotonic], p.Attributes, float64(p.Value))
				}
			case metricdata.Sum[float64]:
				require.True(t, data.IsMonotonic)
				for _, p := range data.DataPoints {
					note("counter", p.Attributes, p.Value)
				}
			case metricdata.Gauge[float64]:
				for _, p := range data.DataPoints {
					note("gauge", p.Attributes, p.Value)
				}
			default:
				require.Failf(t, "unexpected data", "%T", data)
			}
		}
	}
	return values
}

// TestInstrumentsTellEveryFigure: each figure arrives under its name, with its unit and kind.
func TestInstrumentsTellEveryFigure(t *testing.T) {
	reader := sdk.NewManualReader()
	registration, err := poolotel.Observe(sdk.NewMeterProvider(sdk.WithReader(reader)))
	require.NoError(t, err)
	require.Empty(t, collect(t, reader, "observed"))

	st := metricstest.Open(t, "observed")
	observed := collect(t, reader, "observed")
	const age = "coatcheck.pool.oldest_pin.age s gauge"
	require.GreaterOrEqual(t, observed[age], st.PinAge.Seconds())
	delete(observed, age)
	require.Positive(t, st.WaitedFor)
	require.Equal(t, map[string]float64{
		"coatcheck.pool.slot.count {slot} up-downlive":         14,
		"coatcheck.pool.slot.count {slot} up-downlimbo":        9,
		"coatcheck.pool.slot.count {slot} up-downreserved":     2,
		"coatcheck.pool.slot.count {slot} up-downexhausted":    0,
		"coatcheck.pool.slot.count {slot} up-downfree":         float64(st.Free),
		"coatcheck.pool.slot.count {slot} up-downcached":       float64(st.Cached),
		"coatcheck.pool.slot.limit {slot} up-down":             5000,
		"coatcheck.pool.memory.usage By up-down":               float64(st.Bytes),
		"coatcheck.pool.ref.count {ref} up-down":               1,
		"coatcheck.pool.worker.count {worker} up-down":         1,
		"coatcheck.pool.guard.count {guard} up-down":           4,
		"coatcheck.pool.limbo.limit {slot} up-down":            5000,
		"coatcheck.pool.inserted {value} counter":              float64(st.Inserted),
		"coatcheck.pool.refused.full {insertion} counter":      1,
		"coatcheck.pool.refused.stalled {insertion} counter":   5,
		"coatcheck.pool.refused.exhausted {insertion} counter": 0,
		"coatcheck.pool.waiting.count {call} up-down":          0,
		"coatcheck.pool.waited {call} counter":                 3,
		"coatcheck.pool.waited.time s counter":                 st.WaitedFor.Seconds(),
		"coatcheck.pool.worn 1 gauge":                          st.Worn,
		"coatcheck.pool.epochs {epoch} counter":                float64(st.Epoch),
		"coatcheck.pool.dropped {object} counter":              0,
	}, observed)

	require.NoError(t, registration.Unregister())
	require.Empty(t, collect(t, reader, "observed"))
}

func ExampleObserve() {
	p := pool.Must(&pool.Options[string]{Capacity: 100})
	_, _ = p.Insert("umbrella")
	poolhttp.Register("coats", p)

	reader := sdk.NewManualReader() // or one that exports
	registration, err := poolotel.Observe(sdk.NewMeterProvider(sdk.WithReader(reader)))
	if err != nil {
		panic(err)
	}
	defer func() { _ = registration.Unregister() }()

	var all metricdata.ResourceMetrics
	err = reader.Collect(context.Background(), &all)
	fmt.Println(err, all.ScopeMetrics[0].Metrics[0].Name, p.Len())
	// Output: <nil> coatcheck.pool.slot.count 1
}

// TestObserveTwice: the figures are those of one Observe, until the last registration ends.
func TestObserveTwice(t *testing.T) {
	p := pool.Must[int](nil)
	for range 3 {
		_, err := p.Insert(1)
		require.NoError(t, err)
	}
	poolhttp.Register("twice", p)
	defer poolhttp.Unregister("twice")
	reader := sdk.NewManualReader()
	provider := sdk.NewMeterProvider(sdk.WithReader(reader))
	live := func() float64 { return collect(t, reader, "twice")["coatcheck.pool.slot.count {slot} up-downlive"] }
	first, err := poolotel.Observe(provider)
	require.NoError(t, err)
	require.Equal(t, 3.0, live())
	second, err := poolotel.Observe(provider)
	require.NoError(t, err)
	require.Equal(t, 3.0, live())
	require.NoError(t, first.Unregister())
	require.NoError(t, first.Unregister(), "a second time does nothing")
	require.Equal(t, 3.0, live())
	require.NoError(t, second.Unregister())
	require.Zero(t, live())
	third, err := poolotel.Observe(provider)
	require.NoError(t, err)
	require.Equal(t, 3.0, live())
	require.NoError(t, third.Unregister())
}
