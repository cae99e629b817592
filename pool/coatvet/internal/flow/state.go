package flow

// This file has what may hold at one place of a function, and how two paths meet.

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"

	"coatcheck/pool/coatvet/internal/api"
)

// A state is what may hold at a place, on some path that leads there. A variable that is not in a map
// has nothing of that kind.
type state struct {
	resources map[*types.Var]resource
	pointers  map[*types.Var]pointer
	loops     map[*ast.RangeStmt]bool // the loops over Pool.All that run
	removable map[string]bool         // handles that a goroutine of this function may remove
	stored    map[string]storedPointer
}

// A resource is what may be true of the resource in a local variable.
type resource struct {
	kind     *api.Resource
	opened   token.Pos  // where it was opened; none if it is ended on all paths
	ended    token.Pos  // where it was ended; none if it is ended on no path
	method   string     // the method that ended it
	deferred bool       // a deferred call ends it
	handed   bool       // others have it, too, and may end it
	joined   bool       // others use it, for which this function may wait
	param    bool       // the caller has opened it
	ok       *types.Var // false, or an error, if there is none
}

// An owner keeps pointers valid. It is one of
//
//	*types.Var      a variable with a resource
//	*ast.RangeStmt  a loop over Pool.All
//	string          the key of a handle (see key), whose value nobody removes meanwhile
type owner any

// A pointer is what may be true of a pointer into a pool.
type pointer struct {
	owners map[owner]bool
	dead   string // since when it is not valid, for messages; "" while it is
}

// A storedPointer is one that was put where it outlives the function.
type storedPointer struct {
	owner owner
	pos   token.Pos
	dead  bool
}

func newState() *state {
	return &state{map[*types.Var]resource{}, map[*types.Var]pointer{}, map[*ast.RangeStmt]bool{}, map[string]bool{}, map[string]storedPointer{}}
}

func (s *state) clone() *state {
	return &state{maps.Clone(s.resources), maps.Clone(s.pointers), maps.Clone(s.loops), maps.Clone(s.removable), maps.Clone(s.stored)}
}

// join adds what may hold in o. It reports whether s has changed.
func (s *state) join(o *state) (changed bool) {
	for v, b := range o.resources {
		a, known := s.resources[v]
		if c := a.join(b); !known || c != a {
			s.resources[v], changed = c, true
		}
	}
	for v, b := range o.pointers {
		a, known := s.pointers[v]
		if c := a.join(b); !known || len(c.owners) != len(a.owners) || c.dead != a.dead {
			s.pointers[v], changed = c, true
		}
	}
	for loop := range o.loops {
		changed = changed || !s.loops[loop]
		s.loops[loop] = true
	}
	for key := range o.removable {
		changed = changed || !s.removable[key]
		s.removable[key] = true
	}
	for key, b := range o.stored {
		a, known := s.stored[key]
		b.dead = b.dead || a.dead
		if !known || a.dead != b.dead {
			s.stored[key], changed = b, true
		}
	}
	return changed
}

// join returns what may be true after either of two paths. The zero resource is none.
func (a resource) join(b resource) resource {
	if a.kind == nil {
		return b
	}
	a.opened, a.ended, a.method = max(a.opened, b.opened), max(a.ended, b.ended), max(a.method, b.method)
	a.deferred, a.handed, a.joined = a.deferred || b.deferred, a.handed || b.handed, a.joined || b.joined
	if a.ok != b.ok {
		a.ok = nil
	}
	return a
}

func (a pointer) join(b pointer) pointer {
	owners := maps.Clone(b.owners)
	maps.Copy(owners, a.owners)
	return pointer{owners, max(a.dead, b.dead)}
}

// set changes what is true of the resource in v, if there is one.
func (s *state) set(v *types.Var, change func(r *resource)) {
	if r, ok := s.resources[v]; ok {
		change(&r)
		s.resources[v] = r
	}
}
