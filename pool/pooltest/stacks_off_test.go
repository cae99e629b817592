//go:build !coatcheck_debug || interleave

package pooltest_test

import (
	"fmt"
	"testing"

	"coatcheck/pool"
	"coatcheck/pool/pooltest"
)

const stacks = false

// printer is a testing.TB that prints failures, for the example. A test passes its
// *testing.T.
type printer struct{ testing.TB }

func (printer) Helper()                           {}
func (printer) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

func ExampleEmpty() {
	var t testing.TB = printer{}

	p := pool.Must(&pool.Options[string]{Origin: 1, Shards: 1})
	h, _ := p.Insert("umbrella")
	_, _ = p.Insert("coat")
	g := p.Pin()
	if umbrella, ok := g.Pointer(h); ok && p.Remove(h) {
		fmt.Println("took the", *umbrella)
	}

	pooltest.Empty(t, p) // the coat was not fetched, the guard not unpinned
	// Output:
	// took the umbrella
	// pooltest: *pool.Pool[string] is not empty
	// 1 value live
	// 	1@1: coat
	// 1 guard pinned
	// (go test -tags coatcheck_debug tells who left this)
}
