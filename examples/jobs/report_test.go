package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestReportPrintsTable(t *testing.T) {
	rep := report{
		units: append(chain(1_199, 2), &unit{path: "only/tests"}),
		run: result{
			outcome: outcome{tally: tally{inserted: 3_600, removed: 3_598, elsewhere: 1_799, reuses: 2_600}, peakLive: 950, allocated: 1_024},
			workers: 2, lines: 1_234_567, wall: 1500 * time.Millisecond,
		},
		alone: &result{workers: 1, wall: 2700 * time.Millisecond},
		gave:  1.925,
	}
	var b bytes.Buffer
	n, err := rep.WriteTo(&b)
	require.NoError(t, err)
	require.EqualValues(t, b.Len(), n)
	require.Equal(t, strings.TrimLeft(`
packages                  1,200  1 of them without files but tests
files                     2,398
lines                 1,234,567
jobs inserted             3,600  a package or a file each
jobs removed              3,598  the pool is empty
  on another worker       1,799  50.0 % of the removals: not by the worker that inserted
peak live                   950  jobs in the pool at one time
slots allocated           1,024  1,000 of them were used
reuses                    2,600  insertions into a slot that had held a job before
wall time                1.50 s  2 workers
with one worker          2.70 s  1.80 times as long
processors                 1.93  what the machine gave: a loop that shares nothing, by all workers and by one
`, "\n"), b.String())
}

func TestGroupSetsCommas(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1_000: "1,000", 123_456: "123,456", 1_234_567: "1,234,567"} {
		require.Equal(t, want, group(n))
	}
}

// TestProgressIsShortInALog: a log has a first and a last line, and few between.
func TestProgressIsShortInALog(t *testing.T) {
	var b bytes.Buffer
	p := newProgress(&b, false, "2 workers", 1_000)
	for range 1_000 {
		p.packageDone(&unit{files: make([]string, 2)}, 10, time.Millisecond)
	}
	p.end()
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	require.Equal(t, "2 workers: 0 of 1000 packages, 0 files, 0 lines", lines[0])
	require.Equal(t, "2 workers: 1000 of 1000 packages, 2000 files, 10000 lines", lines[len(lines)-1])
	require.Less(t, len(lines), 10)
}
