package peer

import "sync/atomic"

// A contestant tells how to put a value, to look it up and to drop it, in three function
// literals. The compiler inlines all loops into the contestant's method do, and then the
// literals into each loop. So no call through a pointer is between a loop and its
// contestant, and yet each loop exists once.
//
// The compiler inlines a literal only into the function that declares the literal's
// variables, and one that is long only if it is called once. So the literals of a
// contestant are in a literal of their own: inlining it makes copies of them, one for
// each loop. For the same reason loops has its body in a literal, which may be long. do is a
// method because the literals of a function that is itself inlined stay calls.
// TestLoopsInline reads the machine code.

// contestant is one goroutine's access to a store whose names have type N. do calls words
// or others with the contestant's verbs.
type contestant[N any] interface{ do(*task[N]) outcome }

// task is an operation and its operands.
type task[N any] struct {
	operation
	n     int    // how many pairs
	id    uint64 // of the first value that is stored
	names []N
	picks []uint32
}

type operation uint8

const (
	pairs operation = iota
	fill
	find // the value of one name
	lose // the value of one name
	empty
	replace
	reads
	mix
)

// outcome is what a task returns.
type outcome struct {
	sum    uint64 // of the identities that were read
	failed int
}

// The verbs of a contestant, and what uses them.
type (
	putter[N any]  = func(id uint64) N
	looker[N any]  = func(N) (id uint64, ok bool)
	dropper[N any] = func(N) (ok bool)

	loop[N any] = func(putter[N], looker[N], dropper[N]) outcome
)

// loops does a task. verbs calls its argument with the contestant's verbs. load and swap
// read and change a shared place of mix.
func loops[N any](t *task[N], load func(*N) N, swap func(*N, N) N, verbs func(loop[N]) outcome) outcome {
	return inline(func() outcome {
		names, picks, id := t.names, t.picks, t.id
		switch t.operation {
		case pairs:
			return verbs(func(put putter[N], _ looker[N], drop dropper[N]) (o outcome) {
				for i := range t.n {
					if !drop(put(id + uint64(i))) {
						o.failed++
					}
				}
				return o
			})
		case fill:
			return verbs(func(put putter[N], _ looker[N], _ dropper[N]) (o outcome) {
				for i := range names {
					names[i] = put(id + uint64(i))
				}
				return o
			})
		case find:
			return verbs(func(_ putter[N], look looker[N], _ dropper[N]) (o outcome) {
				ok := false
				if o.sum, ok = look(names[0]); !ok {
					o.failed++
				}
				return o
			})
		case lose:
			return verbs(func(_ putter[N], _ looker[N], drop dropper[N]) (o outcome) {
				if !drop(names[0]) {
					o.failed++
				}
				return o
			})
		case empty:
			return verbs(func(_ putter[N], look looker[N], drop dropper[N]) (o outcome) {
				for _, n := range names {
					found, ok := look(n)
					o.sum += found
					if !ok || !drop(n) {
						o.failed++
					}
				}
				return o
			})
		case replace:
			return verbs(func(put putter[N], _ looker[N], drop dropper[N]) (o outcome) {
				for i, pick := range picks {
					if !drop(names[pick]) {
						o.failed++
					}
					names[pick] = put(id + uint64(i))
				}
				return o
			})
		case reads:
			return verbs(func(_ putter[N], look looker[N], _ dropper[N]) outcome {
				return outcome{sum: read(names, picks, look)}
			})
		default: // mix
			return verbs(func(put putter[N], look looker[N], drop dropper[N]) (o outcome) {
				for i, op := range picks {
					place := &names[op>>1]
					if op&1 == 0 {
						found, _ := look(load(place)) // the name may be stale
						o.sum += found
					} else if !drop(swap(place, put(id+uint64(i)))) {
						o.failed++
					}
				}
				return o
			})
		}
	})
}

func inline(f func() outcome) outcome { return f() }

// words is loops for names that are words.
func words(t *task[uint64], verbs func(loop[uint64]) outcome) outcome {
	return loops(t,
		func(place *uint64) uint64 { return atomic.LoadUint64(place) },
		func(place *uint64, n uint64) uint64 { return atomic.SwapUint64(place, n) },
		verbs)
}

// others is loops for other names, of which only one goroutine mixes values.
func others[N any](t *task[N], verbs func(loop[N]) outcome) outcome {
	return loops(t,
		func(place *N) N { return *place },
		func(place *N, n N) N {
			old := *place
			*place = n
			return old
		},
		verbs)
}

// read looks up the value of each pick.
func read[N any](names []N, picks []uint32, look func(N) (uint64, bool)) (sum uint64) {
	for _, pick := range picks {
		id, _ := look(names[pick])
		sum += id
	}
	return sum
}
