package workload

import (
	"fmt"

	"coatcheck/bench/suite"
	"coatcheck/pool"
	"coatcheck/pool/dense"
)

// contiguous asks what values without gaps are worth.
func contiguous() suite.Question {
	return suite.Question{
		ID:    "Dense",
		Title: "What does a loop cost over values without gaps?",
		About: "16-byte values, of which nine in ten were removed, drawn by lot; figures are for each that is left. dense is coatcheck's dense store after Refresh, by Values and by All; pool is the pool, whose loop looks at the vacant slots as well; slice is a plain slice of what is left, without names. Closing up is not measured.",
		Roles: map[string]suite.Role{"dense": suite.Ours, "pool": suite.Ours, "slice": suite.Reference},
		Charts: []suite.Chart{
			{Title: "Loop over what is left of a store", Unit: "ns/op"},
		},
		Groups: func(env suite.Env) []suite.Group {
			var groups []suite.Group
			for _, slots := range iterateSizes(env) {
				groups = append(groups, suite.Group{Cases: denseCases(slots, env.Seed)})
			}
			return groups
		},
	}
}

// denseCases are the loops over what is left of so many slots.
func denseCases(slots int, seed uint64) []suite.Case {
	left := shuffled(slots, seed)[:slots/10]
	want := looped{n: len(left)}
	for _, i := range left {
		want.sum += uint64(i) + 1
	}
	store := &common[*dense.Store[loopValue]]{create: func() (*dense.Store[loopValue], error) { return loopDense(slots, left) }}
	var cases []suite.Case
	add := func(impl, by string, open opened) {
		cases = append(cases, loopCase(suite.Case{Impl: impl, Params: wayParams("slots", slots, by)}, want, open))
	}
	add("dense", "values", func() (func() looped, func() error, error) {
		s, err := store.open()
		return func() looped { return loopValues(s.Values()) }, store.close, err
	})
	add("dense", "all", func() (func() looped, func() error, error) {
		s, err := store.open()
		return func() looped { return loopDenseAll(s) }, store.close, err
	})
	add("pool", "all", func() (func() looped, func() error, error) {
		p, err := loopPool(slots, left)
		return func() looped { return loopAll(p) }, nil, err
	})
	add("slice", "", func() (func() looped, func() error, error) {
		var values []loopValue
		for _, s := range loopSlots(slots, left) {
			if s.generation != 0 {
				values = append(values, s.value)
			}
		}
		return func() looped { return loopValues(values) }, nil, nil
	})
	return cases
}

// wayParams are a size and the way in which all of it is looped over. A reference has
// one way only, and stands beside all of them.
func wayParams(key string, size int, by string) []suite.Param {
	params := []suite.Param{number(key, size)}
	if by != "" {
		params = append(params, param("by", by))
	}
	return params
}

// loopDense makes a dense store of values 1 … slots, of which those that left
// names, from zero, are left.
func loopDense(slots int, left []uint32) (*dense.Store[loopValue], error) {
	s, err := dense.New[loopValue](nil)
	if err != nil {
		return nil, err
	}
	handles := make([]pool.Handle[loopValue], slots)
	for i := range handles {
		if handles[i], err = s.Create(loopValue{ID: uint64(i) + 1}); err != nil {
			return nil, err
		}
	}
	s.Refresh()
	keep := make([]bool, slots)
	for _, i := range left {
		keep[i] = true
	}
	for i, h := range handles {
		if !keep[i] && !s.Kill(h) {
			return nil, fmt.Errorf("%v was gone before it was killed", h)
		}
	}
	if _, destroyed := s.Refresh(); destroyed != slots-len(left) || s.Len() != len(left) {
		return nil, fmt.Errorf("refreshing destroyed %d values and left %d", destroyed, s.Len())
	}
	return s, nil
}

// loopValues is not inlined, so that the same instructions run over both slices.
//
//go:noinline
func loopValues(values []loopValue) (l looped) {
	for i := range values {
		l.n++
		l.sum += values[i].ID
	}
	return
}

func loopDenseAll(s *dense.Store[loopValue]) (l looped) {
	for _, v := range s.All() {
		l.n++
		l.sum += v.ID
	}
	return
}
