// Package trace remembers who did what, and when: what a pool knows about its
// own history in a program that is built with the tag coatcheck_debug. Package
// pool does not import it otherwise.
//
// An [Event] is something that was done, a [Set] knows what is open (guards,
// Reservations, Workers) and who opened it, and [Lives] who began and ended the
// last lives of each slot. Everything is safe for concurrent use, takes a
// microsecond or two, and is bounded: a stack of calls is kept once, however
// often it is met.
//
// An event is noted after it took effect, by whoever caused it and before the
// operation returns. So nothing here decides anything, and for a moment another
// goroutine may see an effect of which there is no record yet; texts allow for
// that.
package trace

import (
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
)

const (
	// depth is how many calls of a stack are kept, the innermost ones. One costs
	// 8 bytes for each stack that is met.
	depth = 32

	// mostStacks is how many different stacks are remembered, 4 MiB of them. Then
	// remembering begins anew; those that events refer to stay with these.
	mostStacks = 1 << 14

	// mostFrames is how many calls a text shows of a stack.
	mostFrames = 10
)

// stack is the calls that led to an event, the innermost first.
type stack [depth]uintptr

var stacks struct {
	mu  sync.Mutex
	met map[stack]*stack
}

// callers returns the stack above its caller's caller: above the exported
// function of this package that somebody called.
func callers() *stack {
	const skip = 3 // runtime.Callers, callers and its caller
	var s stack
	runtime.Callers(skip, s[:])
	stacks.mu.Lock()
	defer stacks.mu.Unlock()
	if met := stacks.met[s]; met != nil {
		return met
	}
	if stacks.met == nil || len(stacks.met) >= mostStacks {
		stacks.met = make(map[stack]*stack)
	}
	met := s
	stacks.met[s] = &met
	return &met
}

// write appends the stack as the runtime would print it, each line after a
// newline and indent. Of the calls inside the package that noted the event it
// shows the outermost one: the verb that its user called.
func (s *stack) write(b *strings.Builder, indent string) {
	calls := s.calls()
	for len(calls) > 1 && sameSource(calls[0], calls[1]) {
		calls = calls[1:]
	}
	for i, f := range calls {
		if i == mostFrames {
			fmt.Fprintf(b, "\n%s…", indent)
			return
		}
		fmt.Fprintf(b, "\n%s%s\n%s\t%s:%d", indent, f.Function, indent, f.File, f.Line)
	}
}

// calls returns the calls outside of the runtime, the innermost first.
func (s *stack) calls() (calls []runtime.Frame) {
	n := slices.Index(s[:], 0)
	if n < 0 {
		n = depth
	}
	frames := runtime.CallersFrames(s[:n])
	for more := n > 0; more; {
		var f runtime.Frame
		if f, more = frames.Next(); !strings.HasPrefix(f.Function, "runtime.") {
			calls = append(calls, f)
		}
	}
	return calls
}

// sameSource answers whether two functions stand in the same package. It goes
// by their files: a loop over an iterator that the compiler put into its caller
// has the caller's name. Tests of the package are its users.
func sameSource(f, g runtime.Frame) bool {
	const test = "_test.go"
	return path.Dir(f.File) == path.Dir(g.File) && strings.HasSuffix(f.File, test) == strings.HasSuffix(g.File, test)
}
