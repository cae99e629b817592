package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"go.uber.org/atomic"
)

// recording is what the workers of a run did to the pool, in a possible order: a node is
// inserted before it is looked up, and taken after its last look-up. It can be replayed
// on other stores for such nodes.
//
// A run that is not recorded has a nil recording, whose tapes are nil. To write to a nil
// tape costs a comparison.
type recording struct {
	// clock numbers the entries.
	//
	//	writers  the workers, once for each entry
	//	readers  the same
	//	moves    0 → number of entries, by ones
	//	orders   entries: a worker that observes another's operation on a node gets
	//	         a greater number
	clock atomic.Int64
	tapes []*tape // by worker
}

// tape is the operations of one worker. The worker writes it, and it is read once the
// worker has left.
type tape struct {
	clock   *atomic.Int64
	entries []entry
}

// entry is one operation, or the look-ups of one pin.
type entry struct {
	at    int64
	verb  verb
	nodes []handle
}

// verb is the kind of an entry, and its letter in a file.
type verb byte

const (
	inserted verb = '+'
	lookedUp verb = '?' // in place, all of an entry under one guard
	taken    verb = '-' // removed and moved out
)

// newRecording makes the recording of that many workers.
func newRecording(workers int) *recording {
	r := &recording{tapes: make([]*tape, workers)}
	for i := range r.tapes {
		r.tapes[i] = &tape{clock: &r.clock}
	}
	return r
}

// of returns a worker's tape.
func (r *recording) of(worker int) *tape {
	if r == nil {
		return nil
	}
	return r.tapes[worker]
}

// inserted is called before another worker can know the node's handle.
func (t *tape) inserted(h handle) {
	if t != nil {
		t.add(inserted, h)
	}
}

// lookedUp is called before the nodes' counts change: from then on another worker may
// remove one of them.
func (t *tape) lookedUp(hs ...handle) {
	if t != nil && len(hs) > 0 {
		t.add(lookedUp, hs...)
	}
}

// taken is called by the worker that has removed the node.
func (t *tape) taken(h handle) {
	if t != nil {
		t.add(taken, h)
	}
}

func (t *tape) add(v verb, hs ...handle) {
	t.entries = append(t.entries, entry{t.clock.Inc(), v, slices.Clone(hs)})
}

// WriteTo writes the recording as text. A line has a worker's number, + for an insertion,
// ? for the look-ups of one pin, or
// - for a removal, and the nodes, numbered from zero in the order of their insertion:
//
//	0 + 17
//	2 ? 17 4 9
//	1 - 17
//
// Lines that begin with # are comments. Call it after the run.
func (r *recording) WriteTo(w io.Writer) (int64, error) {
	var all []entry
	worker := map[int64]int{}
	for i, t := range r.tapes {
		all = append(all, t.entries...)
		for _, e := range t.entries {
			worker[e.at] = i
		}
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.at, b.at) })

	counted := &countingWriter{w: w}
	out := bufio.NewWriter(counted)
	fmt.Fprintf(out, "# What %s did to the pool. worker, + insert, ? look up under one guard, - remove, nodes\n",
		plural(len(r.tapes), "worker"))
	numbers := make(map[handle]int)
	var line []byte
	for _, e := range all {
		line = strconv.AppendInt(line[:0], int64(worker[e.at]), 10)
		line = append(line, ' ', byte(e.verb))
		for _, h := range e.nodes {
			number, known := numbers[h]
			if !known {
				number = len(numbers)
				numbers[h] = number
			}
			line = append(line, ' ')
			line = strconv.AppendInt(line, int64(number), 10)
		}
		out.Write(append(line, '\n')) // Flush returns the first error
	}
	err := out.Flush()
	return counted.n, err
}

// importsOf returns the jobs that seed looks up: those of the imports of each unit.
func importsOf(units []*unit, jobs []handle) (hs []handle) {
	for _, u := range units {
		for _, imported := range u.imports {
			hs = append(hs, jobs[imported.index])
		}
	}
	return hs
}

// countingWriter counts the bytes that w accepted.
type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}
