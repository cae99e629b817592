package poolprom_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"

	"coatcheck/pool"
	"coatcheck/pool/metrics/internal/metricstest"
	"coatcheck/pool/metrics/poolprom"
	"coatcheck/pool/poolhttp"
)

// gather returns the value of each series by name and labels, and the kind of each metric.
func gather(t *testing.T, r prometheus.Gatherer) (map[string]float64, map[string]dto.MetricType) {
	t.Helper()
	families, err := r.Gather()
	require.NoError(t, err)
	values, kinds := make(map[string]float64), make(map[string]dto.MetricType)
	for _, f := range families {
		kinds[f.GetName()] = f.GetType()
		for _, m := range f.Metric {
			var labels []string
			for _, l := range m.Label {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			values[f.GetName()+"{"+strings.Join(labels, ",")+"}"] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return values, kinds
}

func registry(t *testing.T) *prometheus.Registry {
	r := prometheus.NewPedanticRegistry() // checks that all collected metrics are described
	require.NoError(t, r.Register(poolprom.NewCollector()))
	return r
}

// TestGatherHasEveryFigure: each figure arrives under its name. All figures of the pool
// differ.
func TestGatherHasEveryFigure(t *testing.T) {
	st := metricstest.Open(t, "scraped")
	values, kinds := gather(t, registry(t))
	want := map[string]int{
		"slots{pool=scraped,state=live}": st.Live, "slots{pool=scraped,state=free}": st.Free, "slots{pool=scraped,state=limbo}": st.Limbo,
		"slots{pool=scraped,state=cached}": st.Cached, "slots{pool=scraped,state=reserved}": 2, "slots{pool=scraped,state=exhausted}": 0,
		"capacity_slots{pool=scraped}": 5000, "memory_bytes{pool=scraped}": int(st.Bytes), "refs{pool=scraped}": 1,
		"workers{pool=scraped}": 1, "guards{pool=scraped}": 4, "limbo_limit_slots{pool=scraped}": 5000,
		"inserted_total{pool=scraped}":     int(st.Inserted),
		"refused_full_total{pool=scraped}": 1, "refused_stalled_total{pool=scraped}": 5, "refused_exhausted_total{pool=scraped}": 0,
		"waiting_calls{pool=scraped}": 0, "waited_total{pool=scraped}": 3,
		"epochs_total{pool=scraped}": int(st.Epoch), "dropped_total{pool=scraped}": 0,
	}
	require.Equal(t, 14, st.Live)
	require.Equal(t, 9, st.Limbo)
	require.Equal(t, uint64(5000+20+3), st.Inserted)
	for name, n := range want {
		require.Contains(t, values, "coatcheck_pool_"+name)
		require.Equal(t, float64(n), values["coatcheck_pool_"+name], name)
	}
	require.Equal(t, st.Worn, values["coatcheck_pool_worn_ratio{pool=scraped}"])
	require.Positive(t, st.Worn)
	require.GreaterOrEqual(t, values["coatcheck_pool_oldest_pin_seconds{pool=scraped}"], st.PinAge.Seconds())
	require.Positive(t, st.PinAge)
	require.Equal(t, st.WaitedFor.Seconds(), values["coatcheck_pool_waited_seconds_total{pool=scraped}"])
	require.Positive(t, st.WaitedFor)
	require.Len(t, values, len(want)+3)
	for name, kind := range kinds {
		want := dto.MetricType_GAUGE
		if strings.HasSuffix(name, "_total") {
			want = dto.MetricType_COUNTER
		}
		require.Equal(t, want, kind, name)
	}
	problems, err := testutil.GatherAndLint(registry(t))
	require.NoError(t, err)
	require.Empty(t, problems)
}

// TestGatherFollowsThePools: pools with unusual names come and go between collections.
func TestGatherFollowsThePools(t *testing.T) {
	const name = "ŝranko \xff\n\"{}"
	r := registry(t)
	p := pool.Must[int](nil)
	poolhttp.Register(name, p)
	has := func() bool {
		runtime.GC()
		values, _ := gather(t, r)
		_, ok := values["coatcheck_pool_guards{pool=ŝranko \ufffd\n\"{}}"]
		return ok
	}
	require.True(t, has(), "the metric should be there")
	runtime.KeepAlive(p)
	require.Eventually(t, func() bool { return !has() }, 10*time.Second, time.Millisecond)
}

func ExampleNewCollector() {
	p := pool.Must(&pool.Options[string]{Capacity: 100})
	_, _ = p.Insert("umbrella")
	poolhttp.Register("coats", p)

	r := prometheus.NewRegistry()
	r.MustRegister(poolprom.NewCollector())

	families, err := r.Gather() // promhttp.HandlerFor(r, …) serves them
	for _, f := range families {
		for _, m := range f.Metric {
			if f.GetName() == "coatcheck_pool_capacity_slots" && m.Label[0].GetValue() == "coats" {
				fmt.Println(f.GetName(), m.Label[0].GetName(), m.GetGauge().GetValue())
			}
		}
	}
	fmt.Println(err, p.Len())
	// Output:
	// coatcheck_pool_capacity_slots pool 100
	// <nil> 1
}
