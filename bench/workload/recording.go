package workload

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
)

// The operations of the four workers of examples/jobs on their pool while they
// type-checked the standard library of Go 1.26, in the format of its -record.
//
//go:generate sh -c "cd ../.. && go run ./examples/jobs -workers 4 -once -record bench/workload/testdata/jobs.txt std && gzip -9nf bench/workload/testdata/jobs.txt"
//go:embed testdata/jobs.txt.gz
var jobsRecording []byte

// recording is the operations of workers on a pool, in a possible order.
type recording struct {
	entries []recorded
	workers int
	nodes   int    // inserted ones, numbered from zero
	idSum   uint64 // of all look-ups and removals; the identity of node n is n+1
	ops     int    // insertions, look-ups and removals
	peak    int    // the most live nodes
}

// recorded is one entry: an operation, or the look-ups of one pin.
type recorded struct {
	worker int
	verb   rune // '+' insert, '?' look up, '-' take
	nodes  []uint32
}

// loadJobs returns the recording of examples/jobs.
var loadJobs = sync.OnceValues(func() (*recording, error) {
	z, err := gzip.NewReader(bytes.NewReader(jobsRecording))
	if err != nil {
		return nil, err
	}
	return readRecording(z)
})

// readRecording reads lines of worker, verb and nodes. A replay finds out whether the order
// is possible.
func readRecording(r io.Reader) (*recording, error) {
	rec := new(recording)
	live := 0
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		var e recorded
		if _, err := fmt.Sscanf(lines.Text(), "%d %c", &e.worker, &e.verb); err != nil || !strings.Contains("+?-", fields[1]) {
			return nil, fmt.Errorf("%q is not an entry", lines.Text())
		}
		for _, f := range fields[2:] {
			node, err := strconv.ParseUint(f, 10, 24)
			if err != nil {
				return nil, err
			}
			e.nodes = append(e.nodes, uint32(node))
			if e.verb != '+' {
				rec.idSum += node + 1
			}
		}
		switch e.verb {
		case '+':
			rec.nodes++
			live++
		case '-':
			live--
		}
		rec.peak = max(rec.peak, live)
		rec.workers = max(rec.workers, e.worker+1)
		rec.ops += len(e.nodes)
		rec.entries = append(rec.entries, e)
	}
	return rec, lines.Err()
}
