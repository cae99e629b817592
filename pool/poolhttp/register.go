package poolhttp

import (
	"cmp"
	"iter"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
	"weak"

	"go.uber.org/atomic"

	"coatcheck/pool"
)

// registry maps names to entries.
var registry = struct {
	mu      sync.Mutex
	entries map[string]*entry
}{entries: map[string]*entry{}}

// entry is a registered pool. It must not refer to the pool, which could not be collected
// then.
type entry struct {
	name    string
	values  string          // the type of its values
	pool    func() anyPool  // returns nil once the pool has been collected
	cleanup runtime.Cleanup // calls forget then
	mu      sync.Mutex
	past    history // under mu
}

// anyPool is the part of a pool's methods that does not depend on the type of its values.
type anyPool interface {
	Stats() pool.Stats
	ExplainOpen() string
}

// Register shows p under a name, until Unregister. If another pool has the name, p replaces it;
// if p has it already, nothing changes. A pool may have several names. Invalid UTF-8 in a name
// becomes U+FFFD. Register panics if p is nil or zero.
//
// The registry holds p weakly. The garbage collector frees an unreachable pool as if it were not
// registered, and its name is removed.
func Register[T any](name string, p *pool.Pool[T]) {
	if p == nil {
		panic("poolhttp: Register of a nil Pool")
	}
	p.Cap() // panics for a zero Pool
	name = valid(name)
	weakly := weak.Make(p)
	e := &entry{name: name, values: reflect.TypeFor[T]().String(), pool: func() anyPool {
		if p := weakly.Value(); p != nil {
			return p
		}
		return nil
	}}
	registry.mu.Lock()
	defer registry.mu.Unlock()
	if old := registry.entries[name]; old != nil && old.pool() == anyPool(p) {
		return
	}
	remove(name)
	registry.entries[name] = e
	e.cleanup = runtime.AddCleanup(p, forget, e)
}

// Unregister removes a name. If no pool has it, nothing changes.
func Unregister(name string) {
	registry.mu.Lock()
	defer registry.mu.Unlock()
	remove(valid(name))
}

// remove is Unregister with the lock held.
func remove(name string) {
	if e := registry.entries[name]; e != nil {
		p := e.pool()
		e.cleanup.Stop() // or it would stay as long as the pool
		runtime.KeepAlive(p)
		delete(registry.entries, name)
	}
}

// valid returns a name in UTF-8, which JSON and Prometheus require.
func valid(name string) string { return strings.ToValidUTF8(name, "\ufffd") }

// forget removes the entry of a pool that has been collected.
func forget(e *entry) {
	registry.mu.Lock()
	defer registry.mu.Unlock()
	if registry.entries[e.name] == e {
		delete(registry.entries, e.name)
	}
}

// registered yields the registered pools in order of their names. It holds no lock during
// the loop.
func registered() iter.Seq2[*entry, anyPool] {
	return func(yield func(*entry, anyPool) bool) {
		registry.mu.Lock()
		entries := slices.Collect(maps.Values(registry.entries))
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
// these figures last.
func (e *entry) look(p anyPool) (pool.Stats, history) {
	st := p.Stats()
	e.mu.Lock()
	defer e.mu.Unlock()
	return st, e.past.add(sampled(time.Now(), st))
}

// All returns an iterator over the names of the registered pools, in order, with the current
// figures of each.
func All() iter.Seq2[string, pool.Stats] {
	return func(yield func(string, pool.Stats) bool) {
		for e, p := range registered() {
			if st, _ := e.look(p); !yield(e.name, st) {
				return
			}
		}
	}
}

// figures are the members of a pool's JSON object: the fields of Stats, and these.
type figures struct {
	Type string // of the values
	pool.Stats
	Open string `json:",omitempty"` // who holds what, under coatcheck_debug or with ShowStacks
}

// Vars returns the figures of all registered pools, by their names, in a form for encoding/json.
// It can be an [expvar.Func]:
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

// stacks is what ShowStacks was told.
var stacks atomic.Bool

// ShowStacks says whether the page and the JSON show the stacks that pinned or opened what is open,
// in a program that is built without the tag coatcheck_debug. Pools with Options.TraceGuards have
// such stacks. At first they are not shown: a stack tells a reader how the program is made.
func ShowStacks(on bool) { stacks.Store(on) }

// open tells who holds what in a pool, or returns "" where that is not recorded, or not to be shown.
func open(p anyPool) string {
	if !recorded && !stacks.Load() {
		return ""
	}
	text := p.ExplainOpen()
	if !strings.Contains(text, "\n\t") { // under the tag, indented stacks follow each line
		return ""
	}
	return text
}
