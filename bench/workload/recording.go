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

// What the four workers of examples/jobs did to their pool while they type-checked
// the standard library of Go 1.26. The format is that of the command's WriteTo.
//
//go:generate sh -c "cd ../.. && go run ./examples/jobs -workers 4 -once -record bench/workload/testdata/jobs.txt std && gzip -9nf bench/workload/testdata/jobs.txt"
//go:embed testdata/jobs.txt.gz
var jobsRecording []byte

// recording is what workers did to a pool, in an order that could have been.
type recording struct {
	entries []recorded
	workers int
	nodes   int    // that were inserted; they are numbered from zero
	idSum   uint64 // of all that is looked up or taken, if the identity of node n is n+1
	ops     int    // insertions, look-ups and removals
	peak    int    // the most nodes that were there at one time
}

// recorded is one entry: an operation, or the look-ups of one pin.
type recorded struct {
	worker int
	verb   byte // '+' insert, '?' look up, '-' take out
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

// readRecording reads a recording and checks that it could have been: each node is
// inserted once, then looked up, then taken once.
func readRecording(r io.Reader) (*recording, error) {
	rec := new(recording)
	var there []bool
	live := 0
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for number := 1; lines.Scan(); number++ {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		e, err := parseEntry(lines.Text())
		if err != nil {
			return nil, fmt.Errorf("line %d of the recording: %w", number, err)
		}
		for _, node := range e.nodes {
			if known := int(node) < rec.nodes; known == (e.verb == '+') || known && !there[node] {
				return nil, fmt.Errorf("line %d of the recording: %q, but node %d is not there to be", number, lines.Text(), node)
			}
			switch e.verb {
			case '+':
				if int(node) != rec.nodes {
					return nil, fmt.Errorf("line %d of the recording: node %d is inserted, not %d", number, node, rec.nodes)
				}
				rec.nodes++
				there = append(there, true)
				live++
				rec.peak = max(rec.peak, live)
			case '?':
				rec.idSum += uint64(node) + 1
			case '-':
				rec.idSum += uint64(node) + 1
				there[node] = false
				live--
			}
		}
		rec.workers = max(rec.workers, e.worker+1)
		rec.ops += len(e.nodes)
		rec.entries = append(rec.entries, e)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if live != 0 || rec.nodes == 0 {
		return nil, fmt.Errorf("the recording ends with %d of %d nodes", live, rec.nodes)
	}
	return rec, nil
}

// parseEntry reads a line: worker, verb, nodes.
func parseEntry(line string) (recorded, error) {
	var e recorded
	fields := strings.Fields(line)
	if len(fields) < 3 || len(fields[1]) != 1 || !strings.Contains("+?-", fields[1]) {
		return e, fmt.Errorf("%q is no entry", line)
	}
	e.verb = fields[1][0]
	if e.verb != '?' && len(fields) > 3 {
		return e, fmt.Errorf("%q has more than one node", line)
	}
	worker, err := strconv.ParseUint(fields[0], 10, 8)
	if err != nil {
		return e, err
	}
	e.worker = int(worker)
	for _, f := range fields[2:] {
		node, err := strconv.ParseUint(f, 10, 24)
		if err != nil {
			return e, err
		}
		e.nodes = append(e.nodes, uint32(node))
	}
	return e, nil
}
