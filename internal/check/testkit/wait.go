package testkit

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// No test requires an amount of work in a time: the machine may do much else. But a test that waits
// has a limit of its own, on which it prints how to repeat it, and every goroutine's stack.

var patienceFlag = flag.Duration("patience", 0, "how long a test may wait; 0: 1m with -short, 12m in the full programme, 3m otherwise")

// Patience returns how long a test may wait for what takes milliseconds on an idle machine.
func Patience() time.Duration {
	switch {
	case *patienceFlag > 0:
		return *patienceFlag
	case testing.Short():
		return time.Minute
	case !Full():
		return 3 * time.Minute
	}
	return 12 * time.Minute
}

// repeats tells, by test, how to repeat what is running. A test that draws several seeds keeps the
// last three.
var repeats struct {
	sync.Mutex
	of map[string][]string
}

// Repeats records how to repeat a test. If the test fails or hangs, it prints that.
func Repeats(t testing.TB, how string) {
	name := t.Name()
	repeats.Lock()
	defer repeats.Unlock()
	if repeats.of == nil {
		repeats.of = map[string][]string{}
	}
	before := repeats.of[name]
	repeats.of[name] = append(before[max(0, len(before)-2):], how)
	if len(before) > 0 {
		return
	}
	t.Cleanup(func() {
		repeats.Lock()
		defer repeats.Unlock()
		if t.Failed() {
			t.Log("repeat with " + strings.Join(repeats.of[name], ", then ") + lengthened())
		}
		delete(repeats.of, name)
	})
}

// Dump returns how to repeat the tests that are running, and the stacks of all goroutines.
func Dump() string {
	var b strings.Builder
	repeats.Lock()
	for name, how := range repeats.of {
		fmt.Fprintf(&b, "repeat %s with %s\n", name, strings.Join(how, ", then ")+lengthened())
	}
	repeats.Unlock()
	stacks := make([]byte, 1<<20)
	b.Write(stacks[:runtime.Stack(stacks, true)])
	return b.String()
}

// limited ends the tests, with a dump, unless stop is called in time.
func limited(what string, limit time.Duration) (stop func()) {
	timer := time.AfterFunc(limit, func() { panic(fmt.Sprintf("%s hangs: it waits for %v\n%s", what, limit, Dump())) })
	return func() { timer.Stop() }
}

// Within ends the tests, with a dump, if f runs out of Patience. It runs f on the test's goroutine,
// so f may fail the test as well.
func Within(t testing.TB, f func()) {
	defer limited(t.Name(), Patience())()
	f()
}

// Soon returns what comes from c, or ends the tests as Within does.
func Soon[T any](t testing.TB, c <-chan T) (v T) {
	Within(t, func() { v = <-c })
	return v
}

// Until waits until cond returns true, or ends the tests as Within does.
func Until(t testing.TB, cond func() bool) {
	Within(t, func() {
		for n := 0; !cond(); n++ {
			if n > 1000 {
				time.Sleep(50 * time.Microsecond)
			}
			runtime.Gosched()
		}
	})
}

// Eventually collects garbage until cond returns true. It fails the test when it runs out of
// Patience.
func Eventually(t testing.TB, cond func() bool, format string, args ...any) {
	t.Helper()
	for end := time.Now().Add(Patience()); !cond(); {
		if time.Now().After(end) {
			t.Fatalf("never came true: %s\n%s", fmt.Sprintf(format, args...), Dump())
		}
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}

// Collect runs one collection after another, until stop is called, which waits for the last.
func Collect() (stop func()) {
	ended := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-ended:
				return
			default:
				runtime.GC()
			}
		}
	}()
	return func() {
		close(ended)
		<-stopped
	}
}

// Limited returns a context that ends when a test's Patience does.
func Limited(t testing.TB) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), Patience())
}

// Done returns a context that is done.
func Done() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// IsClosed reports whether a channel is closed that nothing is sent to.
func IsClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
