package pool_test

import (
	"fmt"
	"log"
	"runtime/pprof"
	"strings"

	"coatcheck/pool"
)

// Who fills a pool. A heap profile names the call that made the page, and that is any insertion. So the
// program keeps a profile of its own, with the stack of one insertion in so many, as long as the value
// lives.
//
// Whether a value is drawn follows from its handle alone. So a removal knows it without a look, and
// one that is not drawn costs a multiplication.
func Example_whoFills() {
	s := &sampledPool{pool.Must[string](nil), pprof.NewProfile("example/strings")}
	var hs []pool.Handle[string]
	for range 20_000 {
		hs = append(hs, s.insertFor("many"))
	}
	s.insertFor("few")
	for _, h := range hs[10_000:] {
		s.Remove(h)
	}
	fmt.Println("one in 64 of those that live:", s.live.Count() > 100 && s.live.Count() < 220)
	var text strings.Builder
	_ = s.live.WriteTo(&text, 1) // or http://…/debug/pprof/example/strings
	fmt.Println("by insertFor:", strings.Contains(text.String(), "insertFor"))
	// Output:
	// one in 64 of those that live: true
	// by insertFor: true
}

type sampledPool struct {
	*pool.Pool[string]
	live *pprof.Profile
}

// drawn is true of one handle in 64.
func drawn(h pool.Handle[string]) bool { return uint64(h)*0x9e3779b97f4a7c15>>58 == 0 }

func (s *sampledPool) Insert(v string) (pool.Handle[string], error) {
	h, err := s.Pool.Insert(v)
	if err == nil && drawn(h) {
		s.live.Add(h, 1) // the stack begins with the caller
	}
	return h, err
}

func (s *sampledPool) Remove(h pool.Handle[string]) bool {
	removed := s.Pool.Remove(h)
	if removed && drawn(h) {
		s.live.Remove(h)
	}
	return removed
}

//go:noinline
func (s *sampledPool) insertFor(name string) pool.Handle[string] {
	h, err := s.Insert(name)
	if err != nil {
		log.Fatal(err)
	}
	return h
}
