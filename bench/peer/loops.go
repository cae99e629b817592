package peer

import "sync/atomic"

//go:generate sh -c "go run gen.go >sessions.txt && mv sessions.txt sessions.go"

// The timed loops. Each is small enough to be inlined into the session's method that calls
// it, and then the function literals that it is passed are inlined into the loop.
// loops_test.go asks the compiler whether they still are.

// pairs stores and removes a value, n times.
func pairs[N any](n int, id uint64, put func(id uint64) N, drop func(N) bool) (failed int) {
	for i := 0; i < n; i++ {
		if !drop(put(id + uint64(i))) {
			failed++
		}
	}
	return
}

// fill stores a value for each place.
func fill[N any](ns []N, id uint64, put func(id uint64) N) {
	for i := range ns {
		ns[i] = put(id + uint64(i))
	}
}

// empty looks up and removes the value of each place.
func empty[N any](ns []N, look func(N) (uint64, bool), drop func(N) bool) (sum uint64, failed int) {
	for _, n := range ns {
		id, ok := look(n)
		sum += id
		if !ok || !drop(n) {
			failed++
		}
	}
	return
}

// replace removes the value of a place and stores another, for each pick.
func replace[N any](ns []N, picks []uint32, id uint64, put func(id uint64) N, drop func(N) bool) (failed int) {
	for i, pick := range picks {
		if !drop(ns[pick]) {
			failed++
		}
		ns[pick] = put(id + uint64(i))
	}
	return
}

// read looks up the value of each pick.
func read[N any](ns []N, picks []uint32, look func(N) (uint64, bool)) (sum uint64) {
	for _, pick := range picks {
		id, _ := look(ns[pick])
		sum += id
	}
	return
}

// mix looks up and replaces shared values. Its literals count, since with that it would be
// too long to be inlined.
func mix(shared []atomic.Uint64, ops []uint32, look func(place *atomic.Uint64), replace func(place *atomic.Uint64, i int)) {
	for i, op := range ops {
		if place := &shared[op>>1]; op&1 == 0 {
			look(place)
		} else {
			replace(place, i)
		}
	}
}

// missed returns 0 for true and 1 for false.
func missed(ok bool) int {
	if ok {
		return 0
	}
	return 1
}
