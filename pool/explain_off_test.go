//go:build !coatcheck_debug || interleave

package pool_test

import (
	"fmt"
	"log"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"coatcheck/epoch"
	"coatcheck/pool"
)

// A program that does not ask for it pays nothing for what another remembers.
// TestLookupsInline watches the rest, and the examples show what Explain and MustGet say then.
func TestRecordsHaveNoSize(t *testing.T) {
	require.Zero(t, pool.RecordBytes)
	require.Equal(t, unsafe.Sizeof(epoch.Guard{})+unsafe.Sizeof(uintptr(0)), unsafe.Sizeof(pool.Guard[int]{}))
}

func ExamplePool_MustGet() {
	p := pool.Must(&pool.Options[string]{Origin: 1, Shards: 1})
	h, err := p.Insert("umbrella")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.MustGet(h))

	p.Remove(h)
	defer func() { fmt.Println(recover()) }()
	p.MustGet(h)
	// Output:
	// umbrella
	// pool: MustGet: handle 0@1 is not live; Pool[string]
}

// With the tag coatcheck_debug, the text goes on with who inserted the values,
// who removed them, and when.
func ExamplePool_Explain() {
	p := pool.Must(&pool.Options[string]{Origin: 1, Shards: 1})
	h, err := p.Insert("umbrella")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Explain(h))
	p.Remove(h)
	fmt.Println(p.Explain(h))
	fmt.Println(p.Explain(1<<40 | 7))
	// Output:
	// 0@1 is live
	// 0@1 is stale: removed or cancelled. Its slot is vacant
	// 7@256 is malformed: generations are odd, and end at 4294967293
}

// With the tag coatcheck_debug, it also tells who opened them, and when.
func ExamplePool_ExplainOpen() {
	p := pool.Must[string](nil)
	g := p.Pin()
	w := p.Worker()
	fmt.Println(p.ExplainOpen())
	g.Unpin()
	w.Close()
	fmt.Printf("%q\n", p.ExplainOpen())
	// Output:
	// 1 guard pinned
	// 1 Worker open
	// ""
}
