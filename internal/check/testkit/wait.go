package testkit

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Eventually collects garbage until cond returns true. It fails the test after 20 seconds.
func Eventually(t testing.TB, cond func() bool, format string, args ...any) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !cond(); {
		if time.Now().After(end) {
			require.FailNow(t, "never came true", fmt.Sprintf(format, args...))
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

// Within ends the tests, with every goroutine's stack, if f takes longer than five
// minutes. It runs f on the test's goroutine, so f may fail the test as well.
func Within(t testing.TB, f func()) {
	timer := time.AfterFunc(5*time.Minute, func() {
		stacks := make([]byte, 1<<20)
		panic(fmt.Sprintf("%s hangs:\n%s", t.Name(), stacks[:runtime.Stack(stacks, true)]))
	})
	defer timer.Stop()
	f()
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
