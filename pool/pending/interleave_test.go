//go:build interleave

package pending

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"testing"

	"coatcheck/internal/check/interleave"
	"coatcheck/internal/check/testkit"
)

// world is one run: calls by name, and how each was ended, as its threads were told.
type world struct {
	calls *Calls[int]
	known map[string]Call[int]
	ends  map[string][]error // nil is an answer
	lost  int                // by FailAll
	shut  bool
	dones map[string][]<-chan struct{}
	waits map[string]waited
}

// waited is what a Wait returned.
type waited struct {
	v   int
	err error
}

var errLost, errShut, errFailed = errors.New("lost"), errors.New("shut"), errors.New("failed")

// do does the steps of a text, such as "start a; deliver b". A thread may name a call that
// another thread starts, perhaps later.
func (w *world) do(r *interleave.Run, t *interleave.Thread, text string) {
	for step := range strings.SplitSeq(text, "; ") {
		verb, name, _ := strings.Cut(step, " ")
		k := w.known[name]
		end := func(ok bool, err error) {
			if ok {
				w.ends[name] = append(w.ends[name], err)
			}
		}
		t.Begin(step)
		switch verb {
		case "":
		case "narrow":
			w.calls = Must[int](&Options{Capacity: 1})
		case "start":
			shut := w.shut
			k, err := w.calls.Start()
			if err == nil {
				w.known[name] = k
			}
			if err != nil && err != errShut || err == nil && shut {
				r.Failf("Start of %s: %v; closed: %v", name, err, shut)
			}
		case "deliver":
			end(w.calls.Deliver(k.ID(), 7), nil)
		case "fail":
			end(w.calls.Fail(k.ID(), errFailed), errFailed)
		case "cancel":
			end(k.Cancel(), ErrEnded)
		case "wait": // with a context that is done
			v, err := k.Wait(testkit.Done())
			w.waits[name] = waited{v, err}
		case "done":
			w.dones[name] = append(w.dones[name], k.Done())
		case "again": // the waiter of a, which was delivered, serves this call, as sync.Pool may have it
			a := w.known["a"]
			a.claim()
			_, _ = a.recycle()
			w.ends["a"] = []error{ErrEnded} // for a second Wait
			h, _ := w.calls.outstanding.Insert(a.w)
			a.w.id.Store(uint64(h))
			w.known[name] = Call[int]{a.w, uint64(h)}
		case "failAll":
			w.lost += w.calls.FailAll(errLost)
		case "close":
			w.calls.Close(errShut)
			w.shut = true
		default:
			panic(fmt.Sprintf("no verb in %q", step))
		}
		t.End()
	}
}

// finally waits for each call with a context that is done: no Wait may block. Its result
// must be the one end that a thread was told, or FailAll's or Close's.
func (w *world) finally() error {
	outstanding, lost := w.calls.Len(), 0
	for name, k := range w.known {
		ends := w.ends[name]
		for _, done := range w.dones[name] {
			if isOver := !k.live(); testkit.IsClosed(done) != isOver {
				return fmt.Errorf("%s is over: %v, and its Done says %v", name, isOver, !isOver)
			}
		}
		got, early := w.waits[name]
		if !early {
			got.v, got.err = k.Wait(testkit.Done())
		}
		v, err := got.v, got.err
		switch {
		case len(ends) > 1:
			return fmt.Errorf("%s was ended as %v", name, ends)
		case len(ends) == 1:
			if err != ends[0] || err == nil && v != 7 {
				return fmt.Errorf("Wait of %s: %d, %v; it was ended as %v", name, v, err, ends[0])
			}
		case err == errLost:
			lost++
		case err == errShut && w.shut:
		case err == context.Canceled && early:
		case err == context.Canceled && !w.shut:
			outstanding--
		default:
			return fmt.Errorf("Wait of %s, which no call ended: %v", name, err)
		}
	}
	if outstanding != 0 || lost > w.lost || lost < w.lost && !w.shut {
		return fmt.Errorf("%d calls are outstanding, and %d of %d lost ones were waited for", outstanding, lost, w.lost)
	}
	return nil
}

// These run under all schedules with two preemptions, and with release stores that others
// see late. None blocks: what a Wait that sleeps does beside the others is for the storm.
var scenarios = []struct {
	name    string
	before  string
	threads []string
}{
	{"Start against Close", "", []string{"start a", "close"}},
	{"two Starts against Close", "start c", []string{"start a; start b", "close"}},
	{"two Starts after Close, where one has room", "narrow; close", []string{"start a", "start b"}},
	{"Close against Close", "start a", []string{"close", "close; start b"}},
	{"two answers, and a failure", "start a", []string{"deliver a", "deliver a", "fail a"}},
	{"Deliver against Cancel", "start a", []string{"deliver a", "cancel a", "cancel a"}},
	{"Deliver against FailAll", "start a; start b", []string{"deliver a; start c", "failAll"}},
	{"Start against Deliver, Cancel and FailAll", "", []string{"start a; cancel a; start b", "deliver a; fail b", "failAll"}},
	{"FailAll against Close", "start a; start b", []string{"failAll", "close"}},
	{"a Wait that gives up against Deliver", "start a", []string{"wait a; start b", "deliver a", "fail a"}},
	{"a Wait that gives up against FailAll", "start a", []string{"wait a; start b", "failAll"}},
	{"Done against Deliver", "start a", []string{"done a", "deliver a", "done a"}},
	{"Done against Done", "start a", []string{"done a", "done a; deliver a"}},
	{"Done against FailAll and Cancel", "start a; start b", []string{"done a; done b", "failAll", "cancel b"}},
	{"Done of a call whose waiter serves another", "start a", []string{"deliver a; again b; done b", "done a", "deliver b"}},
}

func TestInterleave(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection would add steps
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			testkit.Explore(t, func(r *interleave.Run) {
				w := &world{known: map[string]Call[int]{}, ends: map[string][]error{}, dones: map[string][]<-chan struct{}{}, waits: map[string]waited{}}
				w.calls = Must[int](&Options{Capacity: 4})
				w.do(r, nil, s.before)
				for i, text := range s.threads {
					r.Go(string(rune('A'+i)), 0, func(t *interleave.Thread) { w.do(r, t, text) })
				}
				r.Finally(w.finally)
			}, false)
		})
	}
}
