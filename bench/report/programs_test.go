package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/bench/suite"
)

// A program that is behind in one of the loads is listed first, a contestant without figures has a
// dash, and a program of ours without figures is an error.
func TestProgramsBeginWithLosses(t *testing.T) {
	f := constructed(t, "cpu-ns/op", map[string]float64{
		"pool/load=quiet/goroutines=2": 3, "pool/load=busy/goroutines=16": 9, "pointers/load=quiet": 4, "pointers/load=busy": 5, "map/load=busy": 20,
		"worker/load=quiet/goroutines=1": 1, "worker/load=busy/goroutines=1": 1,
	})
	require.True(t, f.HasPrograms(), "the file should have programs")
	require.False(t, f.HasParts(), "the file should have no parts")
	row := func(ours string) Row { return Row{Text: "by " + ours, Question: "Q", Ours: ours} }
	got, err := Programs(f, []Named{{"pointers", "pointers"}, {"map", "a map"}}, "ours", []Row{row("worker"), row("pool")})
	require.NoError(t, err)
	_, table, _ := strings.Cut(got, ".\n\n")
	require.Equal(t, `| processor time, quiet and busy | goroutines | pointers | a map | **ours** | busy: pointers | busy: a map | busy: **ours** |
|---|---|---|---|---|---|---|---|
| by pool | 2; 16 | 4.02 ns | – | **3.01 ns** | 5.03 ns | 20.1 ns | **9.04 ns** |
| by worker | 1 | 4.02 ns | – | **1.01 ns** | 5.03 ns | 20.1 ns | **1.01 ns** |
`, table)
	_, err = Programs(f, nil, "ours", []Row{row("none")})
	require.ErrorContains(t, err, "no figures of Q, impl=none, quiet")
}

func TestContestantsHaveAllTheirFigures(t *testing.T) {
	const text = `BenchmarkQ/impl=pool/load=quiet/goroutines=2-2 9 3 ns/op 4 cpu-ns/op 2097152 peak-B 1 gcs 7000000 saved-B
BenchmarkQ/impl=pool/load=busy/goroutines=16-2 9 5 ns/op 6 cpu-ns/op 4194304 peak-B 2 gcs 7000000 saved-B
BenchmarkQ/impl=map/load=quiet/goroutines=2-2 9 8 ns/op 9 cpu-ns/op 1048576 peak-B 0 gcs
BenchmarkPair/impl=map/goroutines=2-2 9 8 ns/op
`
	f, err := Read(strings.NewReader(text), "text")
	require.NoError(t, err)
	require.True(t, f.HasPrograms(), "the file should have programs")
	require.True(t, f.HasParts(), "the file should have parts")
	_, table, _ := strings.Cut(Contestants(f, []suite.Question{{ID: "Q", Title: "A program"}, {ID: "Pair"}}), ".\n\n")
	require.Equal(t, "| program | contestant | processor time: quiet; busy | memory at the peak |\n|---|---|---|---|\n"+
		"| A program | `pool` | 4.00 ns; 6.00 ns | 2.00 MiB; 4.00 MiB |\n"+
		"| | `map` | 9.00 ns; – | 1.00 MiB; – |\n", table)
}
