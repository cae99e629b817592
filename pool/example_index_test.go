package pool_test

import (
	"fmt"
	"log"
	"strings"
	"sync"

	"coatcheck/pool"
)

// An index by name beside a pool. By hand it goes wrong: when Insert has returned, another goroutine may have removed
// the value already, and the index keeps its name. And each verb that removes needs its own line. The
// pool's events come once for each life, the first before the second, whatever the verb.
//
// While calls run, the index may have a name that is about to go live, or has just gone. So a
// look-up asks the pool too. At rest the index is exact.
func Example_index() {
	towns := newTowns()
	var wg sync.WaitGroup
	for k := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var hs []pool.Handle[town]
			for i := range 200 {
				h, err := towns.all.Insert(town{fmt.Sprint("town ", k, ".", i)})
				if err != nil {
					log.Fatal(err)
				}
				hs = append(hs, h)
			}
			towns.all.RemoveBatch(hs[:50])
			for _, h := range hs[50:70] {
				towns.all.Take(h)
			}
			towns.all.DeleteFunc(func(_ pool.Handle[town], t *town) bool { return strings.HasSuffix(t.name, "7") })
			if k == 0 {
				towns.all.Clear() // also towns of other goroutines
			}
		}()
	}
	wg.Wait()

	found := 0
	for h, t := range towns.all.All() {
		if got, ok := towns.find(t.name); ok && got == h {
			found++
		}
	}
	fmt.Println(found == towns.all.Len(), found == len(towns.byName))
	// Output: true true
}

// towns have a name each, which is no other live town's.
type towns struct {
	all *pool.Pool[town]

	mu     sync.RWMutex
	byName map[string]pool.Handle[town]
}

type town struct{ name string }

func newTowns() *towns {
	t := &towns{byName: map[string]pool.Handle[town]{}}
	t.all = pool.Must(&pool.Options[town]{OnInsert: t.comes, OnRemove: t.goes})
	return t
}

// comes is called just before h is live.
func (t *towns) comes(h pool.Handle[town], v *town) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byName[v.name] = h
}

// goes is called when h is no longer live.
func (t *towns) goes(h pool.Handle[town], v *town) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byName, v.name)
}

// find returns the live town of a name.
func (t *towns) find(name string) (pool.Handle[town], bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	h, ok := t.byName[name]
	return h, ok && t.all.Contains(h)
}
