package poolhttp

import (
	"cmp"
	"iter"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
	"weak"

	"coatcheck/pool"
)

// registry has the entry of each name.
var registry struct {
	mu      sync.Mutex
	entries map[string]*entry
}

// entry is a registered pool. Nothing in it refers to the pool, which would not be
// collected otherwise.
type entry struct {
	name   string
	values string         // the type of its values
	pool   func() anyPool // nil once the pool has been collected
	mu     sync.Mutex
	past   history // under mu
}

// anyPool is what is asked of a pool, whatever its values are.
type anyPool interface {
	Stats() pool.Stats
	ExplainOpen() string
}

// Register shows p under a name. If there is a pool of that name already, p takes
// its place: a name means the last pool that got it.
//
// The registry holds p weakly. A pool that nobody else refers to is collected as if
// it were not registered, and its name goes with it. In a name, what is not UTF-8
// becomes U+FFFD. Register panics if p is nil or zero.
func Register[T any](name string, p *pool.Pool[T]) {
	p.Cap()                                    // panics
	name = strings.ToValidUTF8(name, "\ufffd") // which JSON and Prometheus want
	weakly := weak.Make(p)
	e := &entry{name: name, values: reflect.TypeFor[T]().String(), pool: func() anyPool {
		if p := weakly.Value(); p != nil {
			return p
		}
		return nil
	}}
	registry.mu.Lock()
	defer registry.mu.Unlock()
	if registry.entries == nil {
		registry.entries = make(map[string]*entry)
	}
	registry.entries[name] = e
	runtime.AddCleanup(p, forget, e)
}

// forget removes the entry of a pool that has been collected.
func forget(e *entry) {
	registry.mu.Lock()
	defer registry.mu.Unlock()
	if registry.entries[e.name] == e {
		delete(registry.entries, e.name)
	}
}

// registered yields the pools that there are, in order of their names. No lock is held
// meanwhile.
func registered() iter.Seq2[*entry, anyPool] {
	return func(yield func(*entry, anyPool) bool) {
		registry.mu.Lock()
		entries := make([]*entry, 0, len(registry.entries))
		for _, e := range registry.entries {
			entries = append(entries, e)
		}
		registry.mu.Unlock()
		slices.SortFunc(entries, func(a, b *entry) int { return cmp.Compare(a.name, b.name) })
		for _, e := range entries {
			if p := e.pool(); p != nil && !yield(e, p) {
				return
			}
		}
	}
}

// look returns the figures of the entry's pool, and the samples of the last minutes,
// of which these are the last.
func (e *entry) look(p anyPool) (pool.Stats, history) {
	st := p.Stats()
	e.mu.Lock()
	defer e.mu.Unlock()
	return st, e.past.add(sampled(time.Now(), st))
}

// All yields the names of the registered pools, in order, and their figures at the
// time that each is yielded.
func All() iter.Seq2[string, pool.Stats] {
	return func(yield func(string, pool.Stats) bool) {
		for e, p := range registered() {
			if st, _ := e.look(p); !yield(e.name, st) {
				return
			}
		}
	}
}

// figures are what JSON tells of a pool: the fields of Stats, and these.
type figures struct {
	Type string // of the values
	pool.Stats
	Open string `json:",omitempty"` // who holds what, under coatcheck_debug
}

// Vars returns the figures of all registered pools, by their names, in a form that
// encoding/json takes. It fits an [expvar.Func]:
//
//	expvar.Publish("pools", expvar.Func(poolhttp.Vars))
func Vars() any {
	all := make(map[string]figures)
	for e, p := range registered() {
		st, _ := e.look(p)
		all[e.name] = figures{e.values, st, open(p)}
	}
	return all
}

// open tells who holds what of a pool, or returns "" in a program that does not
// record that. The figures tell how many.
func open(p anyPool) string {
	text := p.ExplainOpen()
	if !strings.Contains(text, "\n\t") { // below each head, the tag puts indented stacks
		return ""
	}
	return text
}
