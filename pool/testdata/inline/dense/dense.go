// Package dense instantiates a store as a user's package does that has no other
// reason to import package pool.
package dense

import "coatcheck/pool/dense"

type value struct{ a, b uint64 }

func churn(s *dense.Store[value]) (total uint64) {
	h, _ := s.Create(value{})
	if v, ok := s.Pointer(h); ok {
		total = v.a
	}
	s.Refresh()
	return total
}

var _ = churn
