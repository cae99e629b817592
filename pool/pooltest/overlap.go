package pooltest

import (
	"slices"
	"strings"
	"sync"

	"coatcheck/pool"
)

// tests are those that have called EmptyAtEnd and have not ended.
var tests running

type running struct {
	mu    sync.Mutex
	open  []any // of *entry[T]
	begun int   // how many tests have begun
}

// entry is a test that uses a pool.
type entry[T any] struct {
	pool  *pool.Pool[T]
	name  string
	began int // the number of the first test that it answers for

	// What the test answers for: what came into the pool since earlier was taken, which one of names has left.
	// Under tests.mu.
	earlier contents[T]
	names   []string
}

// add adds an entry, and returns its number.
func (r *running) add(e any) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = append(r.open, e)
	r.begun++
	return r.begun
}

// end returns the report of a test that ends, or "". If others are under way that use the pool, one of
// them answers for what is left.
func (e *entry[T]) end() string {
	tests.mu.Lock()
	defer tests.mu.Unlock()
	tests.open = slices.DeleteFunc(tests.open, func(o any) bool { return o == any(e) })
	left := leftBehind(e.pool, e.earlier)
	if left.empty() {
		return ""
	}
	for _, candidate := range tests.open {
		if o, ok := candidate.(*entry[T]); ok && o.pool == e.pool && !related(o.name, e.name) {
			o.inherit(e, left)
			return ""
		}
	}
	report := left.report(e.pool, e.earlier)
	if len(e.names) > 1 {
		report += "\n(one of these left it, since they overlapped: " + strings.Join(e.names, ", ") + ")"
	}
	return report
}

// inherit makes o answer for what e has left, and for nothing else that came before o.
func (o *entry[T]) inherit(e *entry[T], left left[T]) {
	for _, h := range left.live {
		delete(o.earlier.live, h)
	}
	if left.open && e.began < o.began {
		o.earlier.Stats, o.earlier.open, o.earlier.opened, o.began = e.earlier.Stats, e.earlier.open, e.earlier.opened, e.began
	}
	o.names = append(o.names, e.names...)
	slices.Sort(o.names)
	o.names = slices.Compact(o.names)
}

// related reports whether one of two tests is a subtest of the other, or both are one.
func related(a, b string) bool {
	return strings.HasPrefix(a+"/", b+"/") || strings.HasPrefix(b+"/", a+"/")
}
