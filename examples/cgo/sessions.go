package main

/*
#include <stdint.h>
#include "timers.h"

// The Go function. It takes an integer: Go's collector would take a void* for a pointer.
extern void onTimer(uintptr_t session);

static void trampoline(void *data) { onTimer((uintptr_t)data); }

static int add(unsigned due, uintptr_t session) { return timer_add(due, trampoline, (void *)session); }
*/
import "C"

import (
	"fmt"
	"runtime"

	"coatcheck/pool/cgohandle"
)

// session is what timers belong to. C has only its handle.
type session struct {
	name  string
	wakes int
}

var sessions = cgohandle.NewTable[*session]()

//export onTimer
func onTimer(word C.uintptr_t) {
	runtime.GC() // C holds only handles of the sessions, which the collector does not see
	s, ok := sessions.Lookup(uintptr(word))
	if !ok {
		fmt.Println("  a timer for a session that has ended")
		return
	}
	s.wakes++
	fmt.Printf("  %s wakes for the %s time\n", s.name, []string{"first", "second", "third"}[s.wakes-1])
}

func begin(name string, dues ...uint) uintptr {
	h := sessions.New(&session{name: name})
	for _, due := range dues {
		if C.add(C.uint(due), C.uintptr_t(h)) != 0 {
			panic("no room for a timer")
		}
	}
	return h
}

func advance(to uint) {
	fmt.Printf("at %d o'clock\n", to)
	C.timer_advance(C.uint(to))
}

// demonstrate gives Go values to a C library as its user data. The library (timers.c)
// keeps a void* for each timer, and cannot cancel one. Sessions end before all of their
// timers fire. Then their handles are refused, where a pointer would dangle, and an index
// would wake the next session.
func demonstrate() {
	alice := begin("alice", 1, 3, 5)
	bob := begin("bob", 2, 4)
	advance(2)

	sessions.Delete(alice)
	carol := begin("carol", 3) // may have alice's slot
	advance(4)

	sessions.Delete(bob)
	sessions.Delete(carol)
	advance(5)
	fmt.Println(sessions.Len(), "sessions left")
}
