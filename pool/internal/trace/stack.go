// Package trace remembers who did what, and when: a pool's history in a program built with the tag
// coatcheck_debug, and the open guards and Refs of a pool with Options.TraceGuards.
//
// An [Event] is an operation that took place. A [Set] knows the open items of a kind
// (guards, Reservations, Workers) and who opened them. [Lives] knows who began and ended
// the last lives of each slot. All of them are safe for concurrent use, take a
// microsecond or two, and are bounded: each different stack is kept once.
//
// An event is recorded after it took effect, by the goroutine that caused it and before
// the operation returns. So correctness must not depend on the records, and for a moment
// another goroutine may see an effect without a record; the texts allow for that.
package trace

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
)

const (
	// depth is how many calls of a stack are kept, the innermost ones. Each takes 8 bytes of each different
	// stack.
	depth = 32

	// mostStacks is how many different stacks are remembered, which take 4 MiB. At the limit all are
	// forgotten. Events keep the stacks that they refer to.
	mostStacks = 1 << 14

	// mostFrames is how many calls of a stack a text shows.
	mostFrames = 10
)

// stack has the calls that led to an event, the innermost first.
type stack [depth]uintptr

var stacks struct {
	mu    sync.Mutex
	known map[stack]*stack
}

// callers returns the stack of the call to this package: it begins with the caller of the exported function
// that called callers.
func callers() *stack {
	const skip = 3 // runtime.Callers, callers and its caller
	var s stack
	runtime.Callers(skip, s[:])
	stacks.mu.Lock()
	defer stacks.mu.Unlock()
	if known := stacks.known[s]; known != nil {
		return known
	}
	if stacks.known == nil || len(stacks.known) >= mostStacks {
		stacks.known = make(map[stack]*stack)
	}
	kept := s
	stacks.known[s] = &kept
	return &kept
}

// Caller returns the stack of the call, each line after a newline and a tab.
func Caller() string {
	var b strings.Builder
	callers().write(&b, "\t")
	return b.String()
}

// write appends the stack in the runtime's format. Each line begins with indent. Of the calls inside the product
// it shows only the outermost: the method that its user called.
func (s *stack) write(b *strings.Builder, indent string) {
	calls := s.calls()
	for len(calls) > 1 && ours(calls[1].File) {
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

// calls returns the calls outside the runtime, the innermost first.
func (s *stack) calls() (calls []runtime.Frame) {
	n := slices.Index(s[:], 0)
	if n < 0 {
		n = depth
	}
	frames := runtime.CallersFrames(s[:n])
	for ok := n > 0; ok; {
		var f runtime.Frame
		if f, ok = frames.Next(); !strings.HasPrefix(f.Function, "runtime.") {
			calls = append(calls, f)
		}
	}
	return calls
}

// home is the folder of the module, with a slash at its end, as the compiler recorded it.
var home = func() string {
	_, file, _, _ := runtime.Caller(0)
	return strings.TrimSuffix(file, "pool/internal/trace/stack.go")
}()

// UserSkip returns how many calls, from its caller on, a stack must skip to begin with the user's code: the
// function that called the product. So a profile shows lines of the user's.
func UserSkip() int {
	var s stack
	n := runtime.Callers(2, s[:]) // without runtime.Callers and UserSkip
	frames := runtime.CallersFrames(s[:n])
	for skip := 0; ; skip++ {
		f, ok := frames.Next()
		if !ours(f.File) {
			return skip
		}
		if !ok {
			return 0
		}
	}
}

// ours reports whether a file is part of the product, and no test. The name of a function would not tell: an
// inlined iterator has the name of the function around it.
func ours(file string) bool {
	file, ok := strings.CutPrefix(file, home)
	top, _, _ := strings.Cut(file, "/")
	return ok && (top == "pool" || top == "shard" || top == "epoch") && !strings.HasSuffix(file, "_test.go")
}
