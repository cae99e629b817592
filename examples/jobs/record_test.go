package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
)

// TestRecordingIsInOrder: a recording has a possible order. Between a node's insertion
// and its removal are all of its look-ups.
func TestRecordingIsInOrder(t *testing.T) {
	for seed := range uint64(3) {
		for _, workers := range []int{1, 2, 8} {
			units := tangle(rand.New(rand.NewPCG(seed, 1)), 300)
			rec := newRecording(workers)
			j := newJudge(t, units)
			testkit.Within(t, func() {
				_, err := schedule(t.Context(), units, workers, j, rec)
				require.NoError(t, err)
			})
			var text bytes.Buffer
			n, err := rec.WriteTo(&text)
			require.NoError(t, err)
			require.EqualValues(t, text.Len(), n)
			requireInOrder(t, text.String(), workers, units)
		}
	}
}

// requireInOrder checks the order of a recording, and counts.
func requireInOrder(t *testing.T, text string, workers int, units []*unit) {
	t.Helper()
	imports, files := 0, filesOf(units)
	for _, u := range units {
		imports += len(u.imports)
	}
	live := map[int]bool{}
	known, removed, looks := 0, 0, 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Fields(line)
		var worker int
		_, err := fmt.Sscan(fields[0], &worker)
		require.NoError(t, err)
		require.Less(t, worker, workers)
		for _, f := range fields[2:] {
			var n int
			_, err := fmt.Sscan(f, &n)
			require.NoError(t, err)
			switch fields[1] {
			case "+":
				require.Equal(t, known, n, line)
				known++
				live[n] = true
			case "?":
				require.True(t, live[n], line)
				looks++
			case "-":
				require.True(t, live[n], line)
				delete(live, n)
				removed++
			default:
				require.Fail(t, "no such verb", line)
			}
		}
	}
	jobs := len(units) + files
	require.Equal(t, jobs, known)
	require.Equal(t, jobs, removed)
	// Each job is looked up when it begins, and once for each file. Each import is looked
	// up by seed and after its check.
	require.Equal(t, jobs+files+2*imports, looks)
}

func TestJobsRecords(t *testing.T) {
	file := filepath.Join(t.TempDir(), "errors.txt")
	code, table, said := jobs(t, "-workers", "2", "-record", file, "errors")
	require.Zero(t, code, said)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	inserted := column(t, table, "jobs inserted")
	for _, verb := range []string{`\+`, `-`} {
		require.Len(t, regexp.MustCompile(`(?m)^[01] `+verb+` \d+$`).FindAll(text, -1), inserted)
	}

	code, _, said = jobs(t, "-once", "-record", filepath.Join(file, "nowhere"), "errors")
	require.Equal(t, 1, code)
	require.Contains(t, said, "nowhere")
}
