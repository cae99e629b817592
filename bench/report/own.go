package report

import (
	"slices"
	"strings"

	"coatcheck/bench/suite"
)

// ownKeys are parameters that belong to contestants rather than to the contest: how
// long a FIFO pool lets slots rest is nothing that a mutex could be measured at.
// They become part of the contestant's name, or else nothing would stand beside it.
type ownKeys struct {
	keys  []string
	names map[string]map[string]bool // by key and impl: it has several values of it
}

// ownParams finds them: parameters that separate contestants, in that no two of
// them ever meet at more than one value, and some never meet.
func ownParams(all []*Series, x string) ownKeys {
	own := ownKeys{names: map[string]map[string]bool{}}
	var keys []string
	for _, s := range all {
		for _, p := range s.Params {
			if p.Key != x && p.Key != "goroutines" && p.Key != procs && !slices.Contains(keys, p.Key) {
				keys = append(keys, p.Key)
			}
		}
	}
	for _, key := range keys {
		values := map[string]map[string]bool{} // by impl
		for _, s := range all {
			if values[s.Impl] == nil {
				values[s.Impl] = map[string]bool{}
			}
			values[s.Impl][s.param(key)] = true
		}
		if !separates(values) {
			continue
		}
		own.keys = append(own.keys, key)
		own.names[key] = map[string]bool{}
		for impl, vs := range values {
			own.names[key][impl] = len(vs) > 1
		}
	}
	return own
}

func separates(values map[string]map[string]bool) bool {
	var impls []string
	for impl, vs := range values {
		if vs[""] {
			return false // it lacks the parameter, as floors may
		}
		impls = append(impls, impl)
	}
	var apart bool
	for i, a := range impls {
		for _, b := range impls[:i] {
			var met int
			for v := range values[a] {
				if values[b][v] {
					met++
				}
			}
			if met > 1 {
				return false
			}
			apart = apart || met == 0
		}
	}
	return apart
}

// apply returns the name and the remaining parameters of s.
func (o ownKeys) apply(s *Series) (impl string, params []suite.Param) {
	if len(o.keys) == 0 {
		return s.Impl, s.Params
	}
	impl = s.Impl
	for _, p := range s.Params {
		switch {
		case !slices.Contains(o.keys, p.Key):
			params = append(params, p)
		case o.names[p.Key][s.Impl]:
			impl += ", " + paramLabel(p)
		}
	}
	return
}

// base is the contestant itself, without parameters of its own.
func base(impl string) string {
	name, _, _ := strings.Cut(impl, ", ")
	return name
}

func (v *view) roleOf(impl string) suite.Role { return v.q.RoleOf(base(impl)) }
