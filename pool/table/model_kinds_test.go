package table_test

import (
	"fmt"
	"math"
	"testing"

	"coatcheck/pool"
	"coatcheck/pool/table"
)

func always[K any](K) bool { return true }

// hashedMachine has keys of type K, made of small numbers.
func hashedMachine[K comparable](t testing.TB, choose func(int) int, key func(i int) K) *machine[K] {
	m := model[K]{live: always[K], slot: func(a, b K) bool { return a == b }}
	last := 1000
	fresh := func() K { last++; return key(last) }
	return newMachine(t, m, func() K { return key(choose(70)) }, fresh, choose, func(l table.Layout) *table.Table[K, record] {
		return of[K, record](t, l)
	})
}

// handleMachine has handles of a pool that changes meanwhile: live ones, stale ones, and
// those of another pool.
func handleMachine(t testing.TB, choose func(int) int) *machine[pool.Handle[int]] {
	type handle = pool.Handle[int]
	p := pool.Must(&pool.Options[int]{Origin: 1, Shards: 1})
	var known []handle
	for range 20 {
		known = append(known, insert(t, p, 0))
	}
	m := model[handle]{live: p.Contains, slot: func(a, b handle) bool { return a.Index() == b.Index() }}
	key := func() handle {
		switch c := choose(16); c {
		case 0:
			return 0
		case 1:
			return handle(choose(256)) | handle(choose(8))<<32
		case 2, 3:
			return known[choose(len(known))]
		default:
			return known[max(0, len(known)-1-choose(60))]
		}
	}
	fresh := func() handle {
		known = append(known, insert(t, p, 0))
		return known[len(known)-1]
	}
	mc := newMachine(t, m, key, fresh, choose, func(l table.Layout) *table.Table[handle, record] {
		return forHandles[record](t, p, l)
	})
	mc.world = func() {
		switch {
		case choose(2) == 0 || p.Len() < 10:
			fresh()
		default:
			p.Remove(known[max(0, len(known)-1-choose(60))])
		}
	}
	return mc
}

// run runs steps while more returns true, and checks everything at the end.
func (mc *machine[K]) run(more func() bool) {
	for more() {
		mc.step()
	}
	mc.all()
}

// kinds are the machines, by the keys that they use.
var kinds = []struct {
	name string
	run  func(t testing.TB, choose func(int) int, more func() bool) map[string]int
}{
	{"int", func(t testing.TB, choose func(int) int, more func() bool) map[string]int {
		mc := hashedMachine(t, choose, func(i int) int { return i - 2 })
		mc.run(more)
		return mc.done
	}},
	{"string", func(t testing.TB, choose func(int) int, more func() bool) map[string]int {
		mc := hashedMachine(t, choose, func(i int) string { return fmt.Sprint(i) })
		mc.run(more)
		return mc.done
	}},
	{"float", func(t testing.TB, choose func(int) int, more func() bool) map[string]int {
		mc := hashedMachine(t, choose, func(i int) float64 {
			if i < 5 {
				return math.NaN()
			}
			return float64(i)
		})
		mc.run(more)
		return mc.done
	}},
	{"interface", func(t testing.TB, choose func(int) int, more func() bool) map[string]int {
		mc := hashedMachine(t, choose, func(i int) any { return []any{i, fmt.Sprint(i), float32(i), [1]int{i}}[i%4] })
		mc.run(more)
		return mc.done
	}},
	{"handle", func(t testing.TB, choose func(int) int, more func() bool) map[string]int {
		mc := handleMachine(t, choose)
		mc.run(more)
		return mc.done
	}},
}
