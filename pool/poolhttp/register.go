package poolhttp

import (
	"cmp"
	"iter"
	"maps"
	"math"
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

// registry is that of the program.
var registry = names{entries: map[string]*entry{}}

// names maps names to entries.
type names struct {
	mu      sync.Mutex
	entries map[string]*entry // under mu
}

// locked calls f with the entries, under mu. Nothing else reaches them.
func (n *names) locked(f func(entries map[string]*entry)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	f(n.entries)
}

// entry is a registered pool or Source. It must not refer to it, or it could not be collected.
type entry struct {
	name    string
	values  string          // the type of its values
	pool    func() figured  // returns nil once the pool has been collected
	cleanup runtime.Cleanup // calls forget then
	mu      sync.Mutex
	samples history // under mu
}

// figured is what has figures: a pool, or a Source.
type figured interface{ Stats() pool.Stats }

// Source is what [RegisterSource] shows beside pools: a pointer to an S that has a pool's figures, such
// as a pending.Calls or a dense.Store. Stats is called at any time, from any goroutine. So for a
// structure without locks, such as a table, it is a method of the program's own, which locks.
type Source[S any] interface {
	*S
	Stats() pool.Stats
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
	register(name, reflect.TypeFor[T]().String(), p)
}

// RegisterSource is [Register] for what is no pool:
//
//	poolhttp.RegisterSource("calls", calls)   // a *pending.Calls[Reply]
//	poolhttp.RegisterSource("enemies", store) // a *dense.Store[Enemy]
//
// The page, the JSON and the collectors show its figures as a pool's, under the type S. Figures that
// it has not are 0. The registry holds it weakly too. But an S of less than 16 bytes without pointers may share its
// memory with other values, and stay registered as long as they: Unregister it. If it has the method OldestAge of pending.Calls, the page and the JSON show that too.
func RegisterSource[S any, P Source[S]](name string, s P) {
	if s == nil {
		panic("poolhttp: RegisterSource of a nil pointer")
	}
	s.Stats() // panics for a zero one
	register(name, reflect.TypeFor[S]().String(), s)
}

func register[S any, P Source[S]](name, values string, s P) {
	name = valid(name)
	weakly := weak.Make((*S)(s))
	e := &entry{name: name, values: values, pool: func() figured {
		if s := weakly.Value(); s != nil {
			return P(s)
		}
		return nil
	}}
	registry.locked(func(entries map[string]*entry) {
		if old := entries[name]; old != nil && old.pool() == figured(s) {
			return
		}
		remove(entries, name)
		entries[name] = e
		e.cleanup = runtime.AddCleanup((*S)(s), forget, e)
	})
}

// Unregister removes a name. If no pool has it, nothing changes.
func Unregister(name string) {
	registry.locked(func(entries map[string]*entry) { remove(entries, valid(name)) })
}

// remove is Unregister of a valid name.
func remove(entries map[string]*entry, name string) {
	if e := entries[name]; e != nil {
		e.cleanup.Stop() // or it would stay as long as the pool
		delete(entries, name)
	}
}

// valid returns a name in UTF-8, which JSON and Prometheus require.
func valid(name string) string { return strings.ToValidUTF8(name, "\ufffd") }

// forget removes the entry of a pool that has been collected.
func forget(e *entry) {
	registry.locked(func(entries map[string]*entry) {
		if entries[e.name] == e {
			delete(entries, e.name)
		}
	})
}

// registered yields the registered pools in order of their names. It holds no lock during
// the loop.
func registered() iter.Seq2[*entry, figured] {
	return func(yield func(*entry, figured) bool) {
		var list []*entry
		registry.locked(func(entries map[string]*entry) { list = slices.Collect(maps.Values(entries)) })
		slices.SortFunc(list, func(a, b *entry) int { return cmp.Compare(a.name, b.name) })
		for _, e := range list {
			if p := e.pool(); p != nil && !yield(e, p) {
				return
			}
		}
	}
}

// look returns the figures of the entry's pool, and the samples of the last minutes,
// these figures last.
func (e *entry) look(p figured) (pool.Stats, history) {
	st := p.Stats()
	if math.IsNaN(st.Worn) || math.IsInf(st.Worn, 0) {
		st.Worn = 0 // of a Source: JSON has no such numbers, and one would hide all pools
	}
	e.mu.Lock()
	samples := e.samples.add(sampled(time.Now(), st))
	e.mu.Unlock()
	return st, samples
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
	OldestAge time.Duration `json:",omitempty"` // of a Source that tells the age of its oldest value
	Open      string        `json:",omitempty"` // who holds what, under coatcheck_debug or with ShowStacks
}

// Vars returns the figures of all registered pools, by their names, in a form for encoding/json.
// It can be an [expvar.Func]:
//
//	expvar.Publish("pools", expvar.Func(poolhttp.Vars))
func Vars() any {
	vars := make(map[string]figures)
	for e, p := range registered() {
		st, _ := e.look(p)
		oldest, _ := oldest(p)
		vars[e.name] = figures{e.values, st, oldest, open(p)}
	}
	return vars
}

// oldest returns the age of the oldest value, and false where p does not tell it now.
func oldest(p figured) (time.Duration, bool) {
	if aged, ok := p.(interface{ OldestAge() (time.Duration, bool) }); ok {
		return aged.OldestAge()
	}
	return 0, false
}

// stacks is what ShowStacks was told.
var stacks atomic.Bool

// ShowStacks says whether the page and the JSON show the stacks that pinned or opened what is open,
// in a program that is built without the tag coatcheck_debug. Pools with Options.TraceGuards have
// such stacks. At first they are not shown: a stack tells a reader how the program is made.
func ShowStacks(show bool) { stacks.Store(show) }

// open tells who holds what in a pool, or returns "" where that is not recorded, or not to be shown.
func open(p figured) string {
	explains, ok := p.(interface{ ExplainOpen() string })
	if !ok || !recorded && !stacks.Load() {
		return ""
	}
	text := explains.ExplainOpen()
	if !strings.Contains(text, "\n\t") { // under the tag, indented stacks follow each line
		return ""
	}
	return text
}
