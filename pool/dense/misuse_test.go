//go:build !race

package dense_test

import (
	"encoding/json"
	"io"
	"iter"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/dense"
)

// changes are the methods of a Store that change it, or have it to themselves.
func changes(s *dense.Store[int], h pool.Handle[int]) map[string]func() {
	return map[string]func(){
		"Create":     func() { _, _ = s.Create(1) },
		"Kill":       func() { s.Kill(h) },
		"CreateAt":   func() { _ = s.CreateAt(h, 1) },
		"CreateFunc": func() { _, _ = s.CreateFunc(func(pool.Handle[int], *int) {}) },
		"DeleteFunc": func() { s.DeleteFunc(func(pool.Handle[int], *int) bool { return true }) },
		"Refresh":    func() { s.Refresh() },
		"Clear":      func() { s.Clear() },
		"Grow":       func() { s.Grow(1) },
		"SortFunc":   func() { s.SortFunc(func(a, b *int) int { return *b - *a }) },
		"Trim":       func() { s.Trim() },
		"Clone":      func() { _, _ = s.Clone(nil, nil) },
		"WriteTo":    func() { _, _ = s.WriteTo(io.Discard) },
		"OnMove":     func() { s.OnMove(func(pool.Handle[int], int, int) {}) },
	}
}

// looks are the others.
func looks(s *dense.Store[int], h pool.Handle[int]) map[string]func() {
	return map[string]func(){
		"Pointer":   func() { s.Pointer(h) },
		"Get":       func() { s.Get(h) },
		"Alive":     func() { s.Alive(h) },
		"State":     func() { s.State(h) },
		"Values":    func() { s.Values() },
		"Handles":   func() { s.Handles() },
		"All":       func() { s.All()(func(pool.Handle[int], *int) bool { return true }) },
		"Len":       func() { s.Len() },
		"Cap":       func() { s.Cap() },
		"Allocated": func() { s.Allocated() },
		"Ptr":       func() { s.Ptr(h) },
		"Stats":     func() { s.Stats() },
	}
}

// TestMethodsAreChangesOrLooks: the tests below call each method, but String, which may be called at any time.
func TestMethodsAreChangesOrLooks(t *testing.T) {
	s := tiny[int](t, nil)
	all, reads := changes(s, 0), looks(s, 0)
	for i := range reflect.TypeOf(s).NumMethod() {
		name := reflect.TypeOf(s).Method(i).Name
		if (all[name] == nil) == (reads[name] == nil) && name != "String" {
			t.Errorf("%s belongs in changes or in looks", name)
		}
	}
}

// TestAloneIsNamed: a change that must have the Store to itself ends a loop around it. The texts of panics
// name these, and so does the comment of Store.
func TestAloneIsNamed(t *testing.T) {
	named := map[string]bool{}
	for _, name := range strings.Fields(strings.NewReplacer(",", "", " or ", " ").Replace(dense.Alone)) {
		named[name] = true
	}
	for name := range changes(nil, 0) {
		s := tiny[int](t, nil)
		h := fill(t, s, 1)[0]
		v := testkit.Recovered(func() {
			for range s.All() {
				changes(s, h)[name]()
			}
		})
		require.Equal(t, named[name], v != nil, "%s has the Store to itself: %v; it is in alone: %v", name, v != nil, named[name])
	}
	source, err := os.ReadFile("store.go")
	require.NoError(t, err)
	require.Contains(t, strings.ReplaceAll(string(source), "\n// ", " "),
		strings.Replace(dense.Alone, " or ", " and ", 1)+" must each have the Store to themselves", "the comment of Store")
}

func TestZeroStorePanics(t *testing.T) {
	for _, calls := range []map[string]func(){changes(new(dense.Store[int]), 0), looks(new(dense.Store[int]), 0)} {
		for name, call := range calls {
			t.Run(name, func(t *testing.T) {
				testkit.RequirePanicText(t, call, "dense: use of a zero Store; make one with New or Must")
			})
		}
	}
}

func TestZeroPtrNamesNothing(t *testing.T) {
	var q dense.Ptr[int]
	v, ok := q.Pointer()
	copied, found := q.Get()
	require.False(t, ok || v != nil || found || copied != 0 || q.Alive() || q.Kill(), "a zero reference should name nothing")
	require.Equal(t, dense.Unused, q.State())
	require.Equal(t, q, dense.Ptr[int]{})
}

// TestNothingChangesDuringRefresh calls every method while Refresh or Clear is in OnDestroy: from
// OnDestroy itself, and from another goroutine. Those that only read find what was there.
func TestNothingChangesDuringRefresh(t *testing.T) {
	for _, end := range []struct {
		name string
		f    func(*dense.Store[int])
	}{{"Refresh", func(s *dense.Store[int]) { s.Refresh() }}, {"Clear", func(s *dense.Store[int]) { s.Clear() }}} {
		var during func()
		s := tiny(t, &dense.Options[int]{OnDestroy: func(pool.Handle[int], *int) { during() }})
		hs := fill(t, s, 10)
		during = func() {
			for _, call := range looks(s, hs[5]) {
				require.Nil(t, testkit.Apart(call))
				require.Nil(t, testkit.Recovered(call))
			}
			for i, h := range hs {
				v, ok := s.Pointer(h)
				require.True(t, ok, "the value should be live")
				require.Equal(t, []int{i, i}, []int{*v, s.Values()[i]}, "%s has moved it", end.name)
			}
			require.Equal(t, dense.Dead, s.State(hs[2]))
			for name, call := range changes(s, hs[5]) {
				want := []string{"dense: " + name + " during " + dense.Alone, "functions"}
				testkit.RequirePanicText(t, call, want...) // calls it on another goroutine
				require.Contains(t, testkit.Recovered(call), want[0])
			}
			during = func() {}
		}
		s.Kill(hs[2])
		end.f(s)
		require.False(t, s.Alive(hs[2]), "the value should be gone")
		require.NoError(t, dense.Check(s))
		if end.name == "Refresh" {
			require.Equal(t, 9, s.Len(), "refused calls have changed something")
		}
	}
}

// TestLookThatOutlivesOnDestroyPanics: a loop that begins within OnDestroy ends there.
func TestLookThatOutlivesOnDestroyPanics(t *testing.T) {
	var next func() (pool.Handle[int], *int, bool)
	var s *dense.Store[int]
	s = tiny(t, &dense.Options[int]{OnDestroy: func(pool.Handle[int], *int) {
		next, _ = iter.Pull2(s.All())
		_, v, ok := next()
		require.True(t, ok, "the loop should yield a value")
		require.Equal(t, 0, *v)
	}})
	s.Kill(fill(t, s, 3)[1])
	s.Refresh()
	testkit.RequirePanicText(t, func() { next() }, "dense: "+dense.Alone+" was called during All")
}

// TestRefreshInALoopPanics: the loop detects it at its next step or at its end.
func TestRefreshInALoopPanics(t *testing.T) {
	for _, leave := range []bool{false, true} {
		s := tiny[int](t, nil)
		fill(t, s, 3)
		testkit.RequirePanicText(t, func() {
			for range s.All() {
				s.Refresh()
				if leave {
					break
				}
			}
		}, "dense: "+dense.Alone+" was called during All")
		require.NoError(t, dense.Check(s))
	}
}

// TestCreateDuringRefreshIsNamed: a Create that read what a Refresh was changing says so, and does not fail at an index.
func TestCreateDuringRefreshIsNamed(t *testing.T) {
	s := tiny[int](t, nil)
	s.Kill(fill(t, s, 3)[1])
	s.Refresh()
	dense.Overlap(s)
	testkit.RequirePanicText(t, func() { _, _ = s.Create(1) }, "dense: "+dense.Alone+" was called during Create")
}

// TestOverlappedClaimsDoNotFault: positions that Creates had claimed when another call began, which must have the
// Store to itself, may have no chunk yet, nor their slots. Then the contents are of no use, but no call faults.
func TestOverlappedClaimsDoNotFault(t *testing.T) {
	for name := range changes(nil, 0) {
		for _, origin := range []uint32{1, testkit.LastGeneration} { // slots that wait, or are exhausted
			for _, n := range []int{1, 2, 7, 70} {
				s := tiny(t, &dense.Options[int]{Origin: origin, OnDestroy: func(pool.Handle[int], *int) {}})
				h := fill(t, s, 5)[3]
				s.Kill(s.Handles()[1])
				s.Refresh()
				dense.Claim(s, n)
				for _, name := range []string{name, "Refresh", "Create", "Clear", "Trim"} {
					v := testkit.Recovered(changes(s, h)[name])
					for _, look := range looks(s, h) {
						look()
					}
					text, _ := v.(string)
					require.True(t, v == nil || strings.HasPrefix(text, "dense: "), "%s, with %d claims, panics: %v", name, n, v)
				}
			}
		}
	}
}

// TestOverlappedHandlesDoNotFault: a handle whose slot was that of an earlier array, at a position that stays, moves
// or goes, harms no Refresh.
func TestOverlappedHandlesDoNotFault(t *testing.T) {
	for _, unordered := range []bool{false, true} {
		for at := range 40 {
			for _, dead := range []bool{false, true} {
				s := tiny(t, &dense.Options[int]{Unordered: unordered})
				hs := fill(t, s, 40)
				s.Kill(hs[3])
				s.Kill(hs[30])
				dense.Place(s, at, 1<<32|1000)
				if dead {
					dense.Mark(s, at)
				}
				require.NotPanics(t, func() { s.Refresh() }, "at %d, dead: %v", at, dead)
			}
		}
	}
}

// TestOverlappedMarksDestroyNothing: a mark of a position that is not taken, which a Kill has made after a Refresh
// took the value away, is passed over. All other values stay whole.
func TestOverlappedMarksDestroyNothing(t *testing.T) {
	for _, unordered := range []bool{false, true} {
		for _, n := range []int{1, 10, 63, 64, 70, 130} {
			for _, beyond := range []int{0, 1, 63, 64} {
				var seen []int
				s := tiny(t, &dense.Options[int]{Unordered: unordered, OnDestroy: func(_ handle, v *int) { seen = append(seen, *v) }})
				hs := fill(t, s, n)
				s.Grow(100)
				s.Kill(hs[n/2])
				dense.Mark(s, n+beyond)
				created, destroyed := s.Refresh()
				require.Equal(t, []int{0, 1}, []int{created, destroyed}, "%d behind %d", beyond, n)
				require.Equal(t, []int{n / 2}, seen)
				require.NoError(t, dense.Check(s))
				for i, h := range hs {
					v, ok := s.Get(h)
					require.Equal(t, i != n/2, ok, "%d of %d", i, n)
					require.True(t, !ok || v == i, "%d of %d is %d", i, n, v)
				}
			}
		}
	}
}

// TestDeleteFuncThatRefreshesPanics: its slices are those of the phase before.
func TestDeleteFuncThatRefreshesPanics(t *testing.T) {
	s := tiny[int](t, nil)
	fill(t, s, 3)
	s.Refresh()
	shown := 0
	testkit.RequirePanicText(t, func() {
		s.DeleteFunc(func(handle, *int) bool {
			shown++
			s.Refresh()
			return false
		})
	}, "was called during DeleteFunc")
	require.Equal(t, 1, shown)
	require.NoError(t, dense.Check(s))
}

// A Ptr that was written would be read without its Store.
func TestPtrHasNoText(t *testing.T) {
	_, err := json.Marshal(dense.Ptr[int]{})
	require.ErrorContains(t, err, "dense: a Ptr has no text: write its Handle")
	var q dense.Ptr[int]
	require.ErrorContains(t, json.Unmarshal([]byte(`"0@1"`), &q), "dense: a Ptr has no text")
}
