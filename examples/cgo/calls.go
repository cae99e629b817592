package main

/*
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// What C calls: the first returns the value behind a name, the second deletes the name and
// returns another.
extern uint64_t valueOf(int side, uintptr_t name);
extern uintptr_t renewed(int side, uintptr_t name);

// call calls back for n of the names, from at on, which renews them or looks them up. It
// returns the sum of the values, or the number of new names.
static uint64_t call(int side, int renew, uintptr_t *names, size_t count, size_t at, size_t n) {
	uint64_t sum = 0;
	while (n-- > 0) {
		sum += renew ? (names[at] = renewed(side, names[at])) != 0 : valueOf(side, names[at]);
		if (++at == count) at = 0;
	}
	return sum;
}
*/
import "C"

import (
	"fmt"
	"math/rand/v2"
	"runtime/cgo"
	"sync"
	"unsafe"

	"coatcheck/internal/turns"
	"coatcheck/pool/cgohandle"
)

// value is what the names refer to. All sides store a pointer to it, which converts to
// any without an allocation, and all make a new value when they replace.
type value struct{ id uint64 }

var typed = cgohandle.NewTable[*value]()

// side is a contestant: how it makes, uses and deletes a name. C passes its number, the
// index in sides, to each callback.
type side struct {
	name    string
	number  C.int
	create  func() uintptr
	find    func(uintptr) uint64
	destroy func(uintptr)
}

var sides = []side{
	{"the call alone", 0,
		func() uintptr { return 1 },
		func(h uintptr) uint64 { return uint64(h) },
		func(uintptr) {}},
	{"runtime/cgo", 1,
		func() uintptr { return uintptr(cgo.NewHandle(&value{1})) },
		func(h uintptr) uint64 { return cgo.Handle(h).Value().(*value).id },
		func(h uintptr) { cgo.Handle(h).Delete() }},
	{"Handle", 2,
		func() uintptr { return uintptr(cgohandle.New(&value{1})) },
		func(h uintptr) uint64 { return cgohandle.Handle(h).Value().(*value).id },
		func(h uintptr) { cgohandle.Handle(h).Delete() }},
	{"Table", 3,
		func() uintptr { return typed.New(&value{1}) },
		func(h uintptr) uint64 { return typed.Value(h).id },
		typed.Delete},
}

//export valueOf
func valueOf(side C.int, name C.uintptr_t) C.uint64_t {
	return C.uint64_t(sides[side].find(uintptr(name)))
}

//export renewed
func renewed(side C.int, name C.uintptr_t) C.uintptr_t {
	sides[side].destroy(uintptr(name))
	return C.uintptr_t(sides[side].create())
}

// names are the names that C keeps for one goroutine, in random order. The next round
// continues at at: otherwise a round would use a few thousand of a million.
type names struct {
	words []C.uintptr_t // in C's memory
	at    int
}

// hand gives C live names: to each goroutine its part of them, at least one.
func (s side) hand(live, goroutines int) []*names {
	order := rand.New(rand.NewPCG(1, 2))
	parts := make([]*names, goroutines)
	for i := range parts {
		n := max(1, live/goroutines)
		memory := (*C.uintptr_t)(C.malloc(C.size_t(n) * C.sizeof_uintptr_t)) // never nil: cgo panics instead
		parts[i] = &names{words: unsafe.Slice(memory, n)}
		for j := range parts[i].words {
			parts[i].words[j] = C.uintptr_t(s.create())
		}
		order.Shuffle(n, func(a, b int) {
			w := parts[i].words
			w[a], w[b] = w[b], w[a]
		})
	}
	return parts
}

// end deletes the names.
func (s side) end(parts []*names) {
	for _, p := range parts {
		for _, w := range p.words {
			s.destroy(uintptr(w))
		}
		C.free(unsafe.Pointer(&p.words[0]))
	}
}

// calls returns a work whose operations are calls from C, n on each goroutine: with renew they
// replace a name, and otherwise they look it up.
func (s side) calls(parts []*names, renew C.int) turns.Loop {
	return func(n int) {
		var wg sync.WaitGroup
		for _, p := range parts {
			wg.Add(1)
			go func() {
				defer wg.Done()
				sum := C.call(s.number, renew, &p.words[0], C.size_t(len(p.words)), C.size_t(p.at), C.size_t(n))
				if sum != C.uint64_t(n) { // all values are 1
					panic(fmt.Sprintf("%s: %d calls found %d", s.name, n, sum))
				}
				p.at = (p.at + n) % len(p.words)
			}()
		}
		wg.Wait()
	}
}
