package dense_test

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/dense"
)

// calls are all methods of a Store.
func calls(s *dense.Store[int], h pool.Handle[int]) map[string]func() {
	return map[string]func(){
		"Create":    func() { _, _ = s.Create(1) },
		"Kill":      func() { s.Kill(h) },
		"Get":       func() { s.Get(h) },
		"Alive":     func() { s.Alive(h) },
		"State":     func() { s.State(h) },
		"Refresh":   func() { s.Refresh() },
		"Clear":     func() { s.Clear() },
		"Reserve":   func() { s.Reserve(1) },
		"WriteTo":   func() { _, _ = s.WriteTo(io.Discard) },
		"Values":    func() { s.Values() },
		"Handles":   func() { s.Handles() },
		"All":       func() { s.All()(func(pool.Handle[int], *int) bool { return true }) },
		"Len":       func() { s.Len() },
		"Cap":       func() { s.Cap() },
		"Allocated": func() { s.Allocated() },
	}
}

func TestZeroStorePanics(t *testing.T) {
	for name, call := range calls(new(dense.Store[int]), 0) {
		t.Run(name, func(t *testing.T) {
			testkit.RequirePanicText(t, call, "dense: use of a zero Store; make one with New or Must")
		})
	}
}

// TestNothingIsCalledDuringRefresh calls every method while Refresh or Clear is in
// OnDestroy: from OnDestroy itself, and from another goroutine.
func TestNothingIsCalledDuringRefresh(t *testing.T) {
	for _, end := range []struct {
		name string
		f    func(*dense.Store[int])
	}{{"Refresh", func(s *dense.Store[int]) { s.Refresh() }}, {"Clear", (*dense.Store[int]).Clear}} {
		var during func()
		s := tiny(t, &dense.Options[int]{OnDestroy: func(pool.Handle[int], *int) { during() }})
		hs := fill(t, s, 10)
		during = func() {
			for name, call := range calls(s, hs[5]) {
				want := []string{"dense: " + name + " during Refresh, Clear, Reserve or WriteTo", "OnDestroy"}
				testkit.RequirePanicText(t, call, want...) // calls it on another goroutine
				require.Contains(t, testkit.Recovered(call), want[0])
			}
			during = func() {}
		}
		s.Kill(hs[2])
		end.f(s)
		require.False(t, s.Alive(hs[2]))
		require.NoError(t, dense.Check(s))
		if end.name == "Refresh" {
			require.Equal(t, 9, s.Len(), "refused calls have changed something")
		}
	}
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
		}, "dense: Refresh, Clear, Reserve or WriteTo was called during All")
		require.NoError(t, dense.Check(s))
	}
}
