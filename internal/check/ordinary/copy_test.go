package ordinary_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"reflect"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// linked is a value of every kind of reference, all of which say its number, and some
// in more than one word.
type linked struct {
	id   uint64
	text string
	any  any
	list []byte
	by   map[uint64]uint64
	to   *uint64
	say  func() uint64
	err  error
}

func newLinked(id uint64) linked {
	text := fmt.Sprint(id, " ") + strings.Repeat("x", int(id%61))
	return linked{
		id: id, text: text, any: newAny(id, text), list: append(make([]byte, 0, 128+id%7), text...),
		by: map[uint64]uint64{id: id}, to: &id, say: func() uint64 { return id }, err: fmt.Errorf("%d", id),
	}
}

// newAny returns a value whose type goes with its number: a number, a text, an array
// or a pointer.
func newAny(id uint64, text string) any {
	switch id % 4 {
	case 0:
		return id
	case 1:
		return text
	case 2:
		return [3]uint64{id, id, id}
	}
	return &id
}

func (v linked) number() (uint64, error) {
	want := newLinked(v.id)
	if v.text != want.text || !reflect.DeepEqual(v.any, want.any) || !bytes.Equal(v.list, want.list) || cap(v.list) != cap(want.list) ||
		v.by[v.id] != v.id || *v.to != v.id || v.say() != v.id || v.err.Error() != want.err.Error() {
		return 0, fmt.Errorf("torn: %+v", v)
	}
	return v.id, nil
}

// Copies are of one incarnation while others remove it, zero its slot and use it
// again, and while the collector runs all the time. A torn copy would have no number, or
// would give the collector a wrong pointer.
func TestCopiesAreOfOneIncarnation(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	t.Run("zeroed", func(t *testing.T) { copies(t, nil, newLinked, linked.number) })
	t.Run("Reset", func(t *testing.T) {
		copies(t, func(v *linked) { *v = linked{list: v.list[:0]} }, newLinked, linked.number)
	})
}

// copies has two goroutines look the values of a small pool up that two others
// replace.
func copies[T any](t *testing.T, reset func(*T), value func(uint64) T, number func(T) (uint64, error)) {
	type named struct {
		h  pool.Handle[T]
		id uint64
	}
	p := pool.Must(&pool.Options[T]{Capacity: 64, Reset: reset})
	var cells [4]atomic.Pointer[named]
	var ids, found, stale atomic.Uint64
	replace := func(w *pool.Worker[T], r *rand.Rand) {
		id := ids.Inc()
		var h pool.Handle[T]
		var err error
		switch r.IntN(4) {
		case 0:
			h, err = p.Insert(value(id))
		case 1:
			h, err = w.Insert(value(id))
		case 2:
			h, err = p.InsertFunc(func(_ pool.Handle[T], v *T) { *v = value(id) })
		case 3:
			var s *pool.Reservation[T]
			if s, err = p.Reserve(); err == nil {
				*s.Value() = value(id)
				h = s.Commit()
			}
		}
		if err != nil {
			t.Error(err) // at most six are live
			return
		}
		old := cells[r.IntN(len(cells))].Swap(&named{h, id})
		if old == nil {
			return
		}
		switch r.IntN(4) {
		case 0:
			p.Remove(old.h)
		case 1:
			w.Remove(old.h)
		case 2:
			p.RemoveBatch([]pool.Handle[T]{old.h})
		case 3:
			if v, ok := p.Take(old.h); ok {
				if n, err := number(v); err != nil || n != old.id {
					t.Errorf("Take(%v) is %d, %v; want %d", old.h, n, err, old.id)
				}
			}
		}
	}
	look := func(w *pool.Worker[T], r *rand.Rand) {
		c := cells[r.IntN(len(cells))].Load()
		if c == nil {
			return
		}
		get := [...]func(pool.Handle[T]) (T, bool){p.Get, w.Get, func(h pool.Handle[T]) (T, bool) { return p.Ptr(h).Get() }}[r.IntN(3)]
		// Until it is gone, so that each handle is looked up during its removal.
		for range 64 {
			v, ok := get(c.h)
			if !ok {
				stale.Inc()
				return
			}
			found.Inc()
			if n, err := number(v); err != nil || n != c.id {
				t.Errorf("Get(%v) is %d, %v; want %d", c.h, n, err, c.id)
			}
		}
	}
	const leastStale = 20 // however seldom the machine runs two of them at once
	seed := testkit.Rand(t).Uint64()
	end := time.Now().Add(time.Duration(testkit.Long(500)) * time.Millisecond)
	var wg sync.WaitGroup
	for k, do := range []func(*pool.Worker[T], *rand.Rand){replace, look, replace, look} {
		wg.Add(1)
		go func() {
			defer wg.Done()
			w, r := p.Worker(), rand.New(rand.NewPCG(seed, uint64(k)))
			defer w.Close()
			for n := 0; stale.Load() < leastStale || time.Now().Before(end); n++ {
				do(w, r)
				if k == 0 && n%1000 == 0 {
					p.Trim()
				}
			}
		}()
	}
	wg.Wait()
	t.Logf("%d values, %d copies, %d stale", ids.Load(), found.Load(), stale.Load())
	require.NotZero(t, found.Load())
	p.Clear()
	testkit.RequireReclaimed(t, p)
}

// The collector checks its marks, in a process of its own: with gccheckmark it marks
// a second time while the world is stopped, and throws if it finds what the first
// pass has missed.
func TestCopiesUnderCheckmark(t *testing.T) {
	if testing.Short() {
		t.Skip("stops the world thousands of times")
	}
	child := exec.Command(os.Args[0], "-test.run=^TestCopiesAreOfOneIncarnation$", "-test.v")
	child.Env = append(os.Environ(), "GODEBUG=gccheckmark=1,invalidptr=1")
	out, err := child.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: TestCopiesAreOfOneIncarnation")
}
