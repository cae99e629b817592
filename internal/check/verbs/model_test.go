//go:build !race

package verbs_test

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/internal/check/verbs"
	"coatcheck/pool"
)

type (
	value  uint64
	handle = pool.Handle[value]
)

var values = verbs.Kind[value]{
	Make:   func(n uint64) value { return value(n) },
	Number: func(v *value) uint64 { return uint64(*v) },
}

// wrong is a pool with a fault.
type wrong struct {
	verbs.Subject[value]
	fault string
	last  handle // that was inserted

	removed map[uint32]handle // what Remove was called for last, by slot
}

// faults are those of one verb each, which gives a wrong result or does not do what it says.
var faults = []string{
	"Insert issues a handle again", "Insert stores another value", "Insert does nothing", "InsertFunc fails and inserts", "InsertFunc shows what is live",
	"Contains finds all", "Contains finds none", "At finds all", "At finds none", "At finds another slot", "Get finds none", "Get gives a value with false", "Get gives another value",
	"Pointer finds all", "Pointer finds none", "Pointer finds another value", "MustGet finds all", "View calls and says no", "View says yes and does not call", "Hold finds none",
	"Remove says no", "Remove says yes", "Remove does nothing", "Take gives another value", "Take gives a value with false",
	"RemoveBatch counts one more", "RemoveBatch counts one less", "RemoveBatch leaves one out", "RemoveBatch counts none",
	"Clear leaves one out", "Clear counts one less", "DeleteFunc leaves one out", "DeleteFunc counts one less", "DeleteFunc does not ask for one",
	"Drain leaves one out", "Drain yields one twice", "Drain does not remove", "All leaves one out", "All yields one twice", "All yields what is dead", "Each leaves one out",
}

func (w *wrong) is(fault string) bool { return w.fault == fault }

func (w *wrong) Insert(v value) (handle, error) {
	switch {
	case w.is("Insert issues a handle again") && w.last != 0:
		return w.last, nil
	case w.is("Insert stores another value"):
		v++
	}
	h, err := w.Subject.Insert(v)
	if w.last = h; w.is("Insert does nothing") {
		w.Subject.Remove(h)
	}
	return h, err
}

func (w *wrong) InsertFunc(init func(h handle, v *value)) (h handle, err error) {
	switch {
	case w.is("InsertFunc shows what is live"):
		var v value
		h, err = w.Subject.Insert(1)
		init(h, &v)
		return h, err
	case w.is("InsertFunc fails and inserts"):
		defer func() {
			if x := recover(); x != nil {
				w.Subject.Insert(1)
				panic(x)
			}
		}()
	}
	return w.Subject.InsertFunc(init)
}

func (w *wrong) Contains(h handle) bool {
	return w.is("Contains finds all") || w.Subject.Contains(h) && !w.is("Contains finds none")
}

func (w *wrong) At(index uint32) (handle, bool) {
	h, ok := w.Subject.At(index)
	removed, known := w.removed[index]
	switch {
	case w.is("At finds all") && !ok && known:
		return removed, true
	case w.is("At finds none"):
		return 0, false
	case w.is("At finds another slot") && ok:
		return h + 1, true
	}
	return h, ok
}

func (w *wrong) Get(h handle) (value, bool) {
	v, ok := w.Subject.Get(h)
	switch {
	case w.is("Get finds none"):
		return 0, false
	case w.is("Get gives a value with false") && !ok, w.is("Get gives another value") && ok:
		v++
	}
	return v, ok
}

func (w *wrong) Pointer(h handle) (*value, bool) {
	v, ok := w.Subject.Pointer(h)
	switch {
	case w.is("Pointer finds all") && !ok:
		return new(value), true
	case w.is("Pointer finds none"):
		return nil, false
	case w.is("Pointer finds another value") && ok:
		other := *v + 1
		return &other, true
	}
	return v, ok
}

func (w *wrong) MustGet(h handle) value {
	if v, ok := w.Subject.Get(h); !ok && w.is("MustGet finds all") {
		return v
	}
	return w.Subject.MustGet(h)
}

func (w *wrong) View(h handle, f func(*value)) bool {
	switch {
	case w.is("View says yes and does not call"):
		return w.Subject.Contains(h)
	case w.is("View calls and says no"):
		w.Subject.View(h, f)
		return false
	}
	return w.Subject.View(h, f)
}

func (w *wrong) Hold(h handle) (*pool.Ref[value], bool) {
	if w.is("Hold finds none") {
		return nil, false
	}
	return w.Subject.Hold(h)
}

func (w *wrong) Remove(h handle) bool {
	w.removed[h.Index()] = h
	switch {
	case w.is("Remove does nothing"):
		return w.Subject.Contains(h)
	case w.is("Remove says yes"):
		w.Subject.Remove(h)
		return true
	}
	return w.Subject.Remove(h) && !w.is("Remove says no")
}

func (w *wrong) Take(h handle) (value, bool) {
	v, ok := w.Subject.Take(h)
	if w.is("Take gives another value") && ok || w.is("Take gives a value with false") && !ok {
		v++
	}
	return v, ok
}

func (w *wrong) RemoveBatch(hs []handle) int {
	if w.is("RemoveBatch leaves one out") && len(hs) > 0 {
		live := w.Subject.Contains(hs[0])
		if n := w.Subject.RemoveBatch(hs[1:]); live {
			return n + 1
		}
	}
	n := w.Subject.RemoveBatch(hs)
	switch {
	case w.is("RemoveBatch counts one more"):
		n++
	case w.is("RemoveBatch counts one less") && n > 0:
		n--
	case w.is("RemoveBatch counts none"):
		n = 0
	}
	return n
}

func (w *wrong) Clear() int {
	if w.is("Clear leaves one out") {
		first := true
		return 1 + w.Subject.DeleteFunc(func(handle, *value) bool {
			defer func() { first = false }()
			return !first
		})
	}
	n := w.Subject.Clear()
	if w.is("Clear counts one less") {
		n--
	}
	return n
}

func (w *wrong) DeleteFunc(del func(handle, *value) bool) int {
	more := 0
	n := w.Subject.DeleteFunc(func(h handle, v *value) bool {
		if more == 0 && w.is("DeleteFunc does not ask for one") {
			more = 1
			return false
		}
		goes := del(h, v)
		if goes && more == 0 && w.is("DeleteFunc leaves one out") {
			more = 1
			return false
		}
		return goes
	})
	switch {
	case w.is("DeleteFunc leaves one out"):
		n += more
	case w.is("DeleteFunc counts one less"):
		n--
	}
	return n
}

func (w *wrong) Drain() iter.Seq2[handle, value] {
	return func(yield func(handle, value) bool) {
		if w.is("Drain does not remove") {
			w.Subject.All()(func(h handle, v *value) bool { return yield(h, *v) })
			return
		}
		first := true
		for h, v := range w.Subject.Drain() {
			switch {
			case first && w.is("Drain leaves one out"):
			case !yield(h, v), first && w.is("Drain yields one twice") && !yield(h, v):
				return
			}
			first = false
		}
	}
}

func (w *wrong) All() iter.Seq2[handle, *value] {
	return func(yield func(handle, *value) bool) {
		first, one := true, value(1)
		for h, v := range w.Subject.All() {
			switch {
			case first && w.is("All leaves one out"):
			case first && w.is("All yields what is dead") && !yield(h+2<<32, &one):
				return
			case !yield(h, v), first && w.is("All yields one twice") && !yield(h, v):
				return
			}
			first = false
		}
	}
}

func (w *wrong) Each(_ context.Context, _ int, f func(handle, *value) error) error {
	first := true
	for h, v := range w.Subject.All() {
		if first && w.is("Each leaves one out") {
			first = false
		} else if err := f(h, v); err != nil {
			return err
		}
	}
	return nil
}

// judge is a Model that stops at the first fault.
type judge struct {
	verbs.Model[value]
	shown   []handle
	reports map[string]int
}

// found is a fault.
type found string

func (j *judge) Failf(format string, args ...any) { panic(found(fmt.Sprintf(format, args...))) }

func (j *judge) Reported(c *verbs.Call[value], h handle, r verbs.Report) {
	j.reports[c.Name]++
	if j.Life(h) == verbs.Unborn && r.OK {
		j.shown = append(j.shown, h)
	}
	j.Model.Reported(c, h, r)
}

func (j *judge) Others(c *verbs.Call[value], met map[handle]bool, r verbs.Report) {
	j.reports[c.Name]++
	j.Model.Others(c, met, r)
}

func (j *judge) Acted(c *verbs.Call[value], _ error)                     { j.reports[c.Name]++ }
func (j *judge) Refused(c *verbs.Call[value], err error)                 { j.Failf("%v: %v", c, err) }
func (j *judge) Condemned(_ *verbs.Call[value], _ handle, n uint64) bool { return n%2 == 0 }

// all calls each verb of the table on p with all that it needs: on handles that are live, that
// were removed, and on the zero one; with a constructor that fails, or not; by a Worker, or not.
// It returns the first fault that j finds, or "".
func (j *judge) all(p verbs.Subject[value]) (fault found) {
	defer func() {
		if x := recover(); x != nil {
			fault = x.(found)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience())
	defer cancel()
	table := verbs.Table[value]()
	call := func(v *verbs.Verb[value], with verbs.Call[value]) *verbs.Call[value] {
		c := &with
		c.Verb, c.Judge, c.Kind, c.Pool, c.Context = v, j, values, p, ctx
		c.Do()
		return c
	}
	do := func(name string, with verbs.Call[value]) *verbs.Call[value] { return call(table.Named(name), with) }
	worker := do("Open", verbs.Call[value]{}).Opened
	for i := range table {
		v := &table[i]
		needs := func(n verbs.Needs) bool { return v.Needs&n != 0 }
		for n := range 8 {
			var live []handle
			for range 5 {
				do("Insert", verbs.Call[value]{})
				live = append(live, j.shown[len(j.shown)-1])
			}
			gone := live[4]
			do("Remove", verbs.Call[value]{Handles: []handle{gone}})
			on := [][]handle{nil}
			switch {
			case needs(verbs.Handle):
				on = [][]handle{live[:1], live[:1], {gone}, {0}}
			case needs(verbs.Handles):
				on = [][]handle{{}, {live[0], live[1], live[0]}, live[:2], {gone, live[2], 0, live[3]}}
			}
			for _, hs := range on {
				c := verbs.Call[value]{Handles: hs, N: n & 4, Fails: n&1 > 0}
				if needs(verbs.Worker) || needs(verbs.Any) && n&2 > 0 {
					c.Via = worker
				}
				if needs(verbs.Reservation) {
					c.Open = do("Reserve", verbs.Call[value]{}).Open
				}
				if needs(verbs.Guard | verbs.Either) {
					c.Hold = do("Pin", verbs.Call[value]{}).Hold
				}
				did := call(v, c)
				if did.Hold != nil && !needs(verbs.Either) {
					do("Unpin", verbs.Call[value]{Hold: did.Hold})
				}
				if did.Open != nil && !needs(verbs.Reservation) {
					do("Cancel", verbs.Call[value]{Open: did.Open})
				}
			}
		}
		if v.Name == "Close" {
			worker = do("Open", verbs.Call[value]{}).Opened
		}
	}
	for _, h := range j.shown {
		do("Contains", verbs.Call[value]{Handles: []handle{h}})
	}
	return ""
}

// TestModelRefutesWrongPools is the control of the table's translation and of the model: they
// find each fault, and none in a pool that is right. Of a right pool, each entry has something to
// report, but for those that only begin or end a guard.
func TestModelRefutesWrongPools(t *testing.T) {
	refute := func(fault string) (*judge, found) {
		p, err := pool.New[value](nil)
		require.NoError(t, err)
		j := &judge{reports: map[string]int{}}
		return j, j.all(&wrong{Subject: p, fault: fault, removed: map[uint32]handle{}})
	}
	j, fault := refute("")
	require.Empty(t, fault)
	for _, v := range verbs.Table[value]() {
		guards := v.Needs&(verbs.Pins|verbs.Either) != 0 && v.Needs&verbs.Handle == 0
		assert.Equal(t, guards, j.reports[v.Name] == 0, v.Name)
	}
	for _, fault := range faults {
		_, found := refute(fault)
		assert.NotEmpty(t, found, fault)
	}
}
