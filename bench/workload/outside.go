package workload

import (
	"errors"
	"fmt"
	"runtime/cgo"

	"coatcheck/bench/suite"
	"coatcheck/internal/check/turns"
	"coatcheck/pool/cgohandle"
)

func outside() suite.Question {
	return suite.Question{
		ID:    "Outside",
		Title: "What does a name for C cost, beside runtime/cgo.Handle?",
		About: "Names are uintptrs, as C keeps them, for pointers; a look-up reads the value behind one, a replacement deletes one and makes another. " +
			"Each goroutine has its share of the live names, in an order drawn beforehand. cgohandle has the verbs of runtime/cgo, cgohandle-table the same for one type. " +
			"examples/cgo has both behind real calls from C.",
		Roles: map[string]suite.Role{"cgohandle": suite.Ours, "cgohandle-table": suite.Ours},
		Charts: []suite.Chart{
			{Title: "What does a look-up by a name for C cost?", Unit: "ns/op", Where: map[string]string{"op": "look"}},
			{Title: "What does it cost to replace a name for C?", Unit: "ns/op", Where: map[string]string{"op": "replace"}},
		},
		Groups: func(env suite.Env) (groups []suite.Group) {
			sizes := []int{1, 100, 10_000, 1_000_000}
			if env.Quick {
				sizes = []int{1, 100}
			}
			for _, live := range sizes {
				for _, goroutines := range goroutinesOf(env) {
					for _, op := range []string{"look", "replace"} {
						params := []suite.Param{param("op", op), number("live", live)}
						g := suite.Group{Apart: live >= big}
						for _, impl := range []string{"cgohandle", "cgohandle-table", "cgo"} {
							g.Cases = append(g.Cases, suite.Case{Impl: impl, Params: params, Goroutines: goroutines, Open: func() (suite.Run, error) {
								return openOutside(outsides[impl](), op == "look", live, goroutines, env.Seed), nil
							}})
						}
						groups = append(groups, g)
					}
				}
			}
			return groups
		},
	}
}

// session is the value that a name is for. Its pointer goes into an any without an
// allocation.
type session struct{ id uint64 }

// foreign is a contestant. Each has its own function literals, which the compiler inlines
// into the loops.
type foreign struct {
	create  func(*session) uintptr
	destroy func(uintptr)
	look    func(names []uintptr, at, n int) (sum uint64, end int)
	replace func(names []uintptr, at, n int, s *session) (end int)
}

// round calls do for n names from at on, cyclically. It returns the next position.
func round(names []uintptr, at, n int, do func(name *uintptr)) (end int) {
	for i := 0; i < n; i++ {
		do(&names[at])
		if at++; at == len(names) {
			at = 0
		}
	}
	return at
}

var outsides = map[string]func() foreign{
	"cgohandle": func() foreign {
		return foreign{
			create:  func(s *session) uintptr { return uintptr(cgohandle.New(s)) },
			destroy: func(h uintptr) { cgohandle.Handle(h).Delete() },
			look: func(names []uintptr, at, n int) (sum uint64, end int) {
				end = round(names, at, n, func(name *uintptr) { sum += cgohandle.Handle(*name).Value().(*session).id })
				return
			},
			replace: func(names []uintptr, at, n int, s *session) int {
				return round(names, at, n, func(name *uintptr) {
					cgohandle.Handle(*name).Delete()
					*name = uintptr(cgohandle.New(s))
				})
			},
		}
	},
	"cgohandle-table": func() foreign {
		t := cgohandle.NewTable[*session]()
		return foreign{
			create:  t.New,
			destroy: t.Delete,
			look: func(names []uintptr, at, n int) (sum uint64, end int) {
				end = round(names, at, n, func(name *uintptr) { sum += t.Value(*name).id })
				return
			},
			replace: func(names []uintptr, at, n int, s *session) int {
				return round(names, at, n, func(name *uintptr) {
					t.Delete(*name)
					*name = t.New(s)
				})
			},
		}
	},
	"cgo": func() foreign {
		return foreign{
			create:  func(s *session) uintptr { return uintptr(cgo.NewHandle(s)) },
			destroy: func(h uintptr) { cgo.Handle(h).Delete() },
			look: func(names []uintptr, at, n int) (sum uint64, end int) {
				end = round(names, at, n, func(name *uintptr) { sum += cgo.Handle(*name).Value().(*session).id })
				return
			},
			replace: func(names []uintptr, at, n int, s *session) int {
				return round(names, at, n, func(name *uintptr) {
					cgo.Handle(*name).Delete()
					*name = uintptr(cgo.NewHandle(s))
				})
			},
		}
	},
}

// outsideRun is an open case; names has a slice for each goroutine.
type outsideRun struct {
	turns.Crew
	side  foreign
	names [][]uintptr
}

// openOutside gives each goroutine its share of the live names, at least one.
func openOutside(side foreign, looks bool, live, goroutines int, seed uint64) *outsideRun {
	r := &outsideRun{side: side}
	var works []turns.Work
	for g := range goroutines {
		part := max(1, live/goroutines)
		sessions, names := make([]session, part), make([]uintptr, part)
		order := shuffled(part, seed+uint64(g))
		for i := range sessions {
			sessions[i].id = 1
			names[order[i]] = side.create(&sessions[i])
		}
		r.names = append(r.names, names)
		at := 0
		works = append(works, func(n int) (int, error) {
			if !looks {
				at = side.replace(names, at, n, &session{1})
				return n, nil
			}
			sum, end := side.look(names, at, n)
			at = end
			if sum != uint64(n) {
				return n, fmt.Errorf("%d look-ups found %d sessions", n, sum)
			}
			return n, nil
		})
	}
	r.Crew = turns.Crew(works)
	return r
}

// Close looks up every name and deletes it.
func (r *outsideRun) Close() error {
	var errs []error
	for _, names := range r.names {
		if sum, _ := r.side.look(names, 0, len(names)); sum != uint64(len(names)) {
			errs = append(errs, fmt.Errorf("%d look-ups found %d sessions", len(names), sum))
		}
		for _, h := range names {
			r.side.destroy(h)
		}
	}
	return errors.Join(errs...)
}
