// Package apps has whole programs, each written for several contestants: plain pointers and
// the collector, a map under a mutex, other stores, and ours. Each is written as a good user of
// that contestant would write it, and does the same work as the others.
//
// A program runs in a process of its own, so its processor time, its memory at the peak and its
// garbage collections are its own. process.go starts it, and measures it.
//
//	forkjoin.go  a tree of jobs that fork and join
//	graph.go     jobs that wait for one another, by priority, and that can be cancelled
//	timers.go    timers that are mostly stopped before they fire
//	chat.go      a registry of sessions, rooms that refer to them, and a timeout
//	lru.go       a cache that evicts what was used least recently
//	game.go      frames of a game, and its save file
package apps

import (
	"fmt"
	"sync"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
	"coatcheck/pool"
)

// The contestants that only programs have.
const (
	NamePointers     = "pointers"      // values behind pointers, and the collector
	NamePoolPointers = "pool-pointers" // a pool of pointers
	NameAll          = "pool-all"      // pools also of what nothing refers to
	NameForest       = "pool-forest"   // a pool with a tree, a table and a dense store
)

// App is a program.
type App struct {
	ID    string // of the question
	Title string // the question
	// Alone says that the program runs on one goroutine.
	Alone bool
	// Saves says that the program writes a file.
	Saves    bool
	Versions []Version
}

// Version is a program on one contestant.
type Version struct {
	Impl string
	// Run runs the program. It panics if a result is wrong.
	Run func(Load) Outcome
}

// Load is how much a program does.
type Load struct {
	Quick      bool // as little as shows that it works
	Goroutines int
}

// share returns n, or a quick run's part of it.
func (l Load) share(n int) int {
	if l.Quick {
		return max(n/256, 1)
	}
	return n
}

// Outcome is what a program did.
type Outcome struct {
	Ops   int
	Sum   uint64 // of the results, the same for all versions
	Saved int    // bytes of the file
}

// All returns the programs, in the order of the report.
func All() []App {
	return []App{forkJoin, graph, timers, chat, lru, game}
}

// Find returns a version of a program by "ForkJoin/pool".
func Find(name string) (func(Load) Outcome, error) {
	for _, app := range All() {
		for _, v := range app.Versions {
			if app.ID+"/"+v.Impl == name {
				return v.Run, nil
			}
		}
	}
	return nil, fmt.Errorf("there is no program %q", name)
}

// each calls f on so many goroutines, and waits for them. It returns the sum of the results.
func each(goroutines int, f func(goroutine int) uint64) (sum uint64) {
	sums := make([]uint64, goroutines)
	var wg sync.WaitGroup
	for i := range goroutines {
		wg.Add(1)
		go func() {
			defer wg.Done()
			sums[i] = f(i)
		}()
	}
	wg.Wait()
	for _, s := range sums {
		sum += s
	}
	return sum
}

// inserted returns the handle of an insertion, which must have succeeded.
func inserted[T any](h pool.Handle[T], err error) pool.Handle[T] {
	if err != nil {
		panic(err)
	}
	return h
}

// check panics with a text unless ok.
func check(ok bool, format string, args ...any) {
	if !ok {
		panic(fmt.Sprintf(format, args...))
	}
}

// Roles returns the roles of contestants in programs, which differ from those elsewhere: a
// program on pointers does the whole job.
func Roles() map[string]suite.Role {
	return map[string]suite.Role{
		peer.NamePool: suite.Ours, peer.NameWorker: suite.Ours, peer.NameGuard: suite.Ours, NamePoolPointers: suite.Ours, NameAll: suite.Ours, NameForest: suite.Ours,
	}
}
