//go:build interleave

package interleave_test

import (
	"fmt"
	"strings"

	"coatcheck/internal/atom"
	"coatcheck/internal/check/interleave"
)

// queue is a ring for one producer and one consumer. push has a bug: it moves the tail before it stores
// the value.
type queue struct {
	values     [2]atom.Uint64
	head, tail atom.Uint64
}

func (q *queue) push(v uint64) bool {
	tail := q.tail.Load()
	if tail-q.head.Load() == uint64(len(q.values)) {
		return false
	}
	q.tail.Store(tail + 1)
	q.values[tail%2].Store(v)
	return true
}

func (q *queue) pop() (v uint64, ok bool) {
	head := q.head.Load()
	if head == q.tail.Load() {
		return 0, false
	}
	v = q.values[head%2].Load()
	q.head.Store(head + 1)
	return v, true
}

// Any type whose shared words are those of package atom can be explored: build its state, start its
// threads, and say what must hold. Search then runs it under all schedules with at most one preemption.
func Example() {
	failure := interleave.Search(func(r *interleave.Run) {
		q := new(queue)
		r.Go("producer", 0, func(t *interleave.Thread) {
			t.Begin("push")
			q.push(7)
			t.End()
		})
		r.Go("consumer", 0, func(t *interleave.Thread) {
			t.Begin("pop")
			if v, ok := q.pop(); ok && v != 7 {
				r.Failf("popped %d, and 7 was pushed", v)
			}
			t.End()
		})
	}, 1).Failure
	fmt.Println(failure.Err)
	for line := range strings.Lines(failure.Record) {
		fmt.Println(strings.TrimRight(line, " \n")) // an example's output has no blanks at the end of a line
	}
	// Output:
	// popped 0, and 7 was pushed
	//     1 producer                  start
	//     2 producer   push           Load    word #1                      = 0                             interleave/example_test.go:21
	//     3 producer   push           Load    word #2                      = 0                             interleave/example_test.go:22
	//     4 producer   push           Store   word #1                      ← 1                             interleave/example_test.go:25
	//       ---- consumer
	//     5 consumer                  start
	//     6 consumer   pop            Load    word #2                      = 0                             interleave/example_test.go:31
	//     7 consumer   pop            Load    word #1                      = 1                             interleave/example_test.go:32
	//     8 consumer   pop            Load    word #3                      = 0                             interleave/example_test.go:35
	//     9 consumer   pop            Store   word #2                      ← 1                             interleave/example_test.go:36
	//       producer   push           is about to Store word #3                       interleave/example_test.go:26
}
