//go:build !race

package dense_test

import (
	"math/rand/v2"
	"testing"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/dense"
)

// hand is a dense store as one writes it by hand, for one goroutine: a sparse set with generations,
// and a mark for each value that is to go.
type hand struct {
	values []int
	names  []handName
	dead   []bool
	slots  []handSlot
	free   []uint32
}

type handSlot struct{ generation, at uint32 }

type handName struct{ index, generation uint32 }

func (s *hand) find(h handName) int {
	if int(h.index) < len(s.slots) && s.slots[h.index].generation == h.generation {
		return int(s.slots[h.index].at)
	}
	return -1
}

func (s *hand) create(v int) handName {
	var i uint32
	if n := len(s.free); n > 0 {
		i, s.free = s.free[n-1], s.free[:n-1]
	} else {
		i = uint32(len(s.slots))
		s.slots = append(s.slots, handSlot{})
	}
	sl := &s.slots[i]
	sl.generation++
	sl.at = uint32(len(s.values))
	h := handName{i, sl.generation}
	s.values, s.names, s.dead = append(s.values, v), append(s.names, h), append(s.dead, false)
	return h
}

func (s *hand) kill(h handName) bool {
	at := s.find(h)
	if at < 0 || s.dead[at] {
		return false
	}
	s.dead[at] = true
	return true
}

// refresh closes up in order.
func (s *hand) refresh() {
	to := 0
	for from, h := range s.names {
		if s.dead[from] {
			s.slots[h.index].generation++
			s.free = append(s.free, h.index)
			continue
		}
		s.values[to], s.names[to] = s.values[from], h
		s.slots[h.index].at = uint32(to)
		to++
	}
	clear(s.dead)
	s.values, s.names, s.dead = s.values[:to], s.names[:to], s.dead[:to]
}

// BenchmarkByHand compares the verbs with [hand], on 10,000 values:
//
//	go test -run xxx -bench ByHand -benchtime 1x ./pool/dense
//
// prints ns/op of the store, base-ns/op by hand, and the ratio.
func BenchmarkByHand(b *testing.B) {
	for _, row := range handRows() {
		b.Run(row.name, func(b *testing.B) { testkit.VersusCounted(b, row.subject, row.base) })
	}
}

// handRow is a row of BenchmarkByHand.
type handRow struct {
	name          string
	subject, base func(n int) int
}

func handRows() (rows []handRow) {
	const n = 10_000
	s, t := dense.Must[int](&dense.Options[int]{Origin: 1}), new(hand)
	hs, names := make([]pool.Handle[int], n), make([]handName, n)
	fill := func() {
		for i := range hs {
			hs[i], _ = s.Create(i)
		}
	}
	fillHand := func() {
		for i := range names {
			names[i] = t.create(i)
		}
	}
	fill()
	fillHand()
	s.Refresh()
	order := rand.New(rand.NewPCG(1, 2)).Perm(n)
	passes := func(pass func() int) func(n int) int {
		return func(want int) (done int) {
			for sum := 0; done < want; done += n {
				if sum += pass(); sum < 0 {
					panic("sum")
				}
			}
			return done
		}
	}
	rows = append(rows, handRow{"Pointer", passes(func() (sum int) {
		for _, i := range order {
			if v, ok := s.Pointer(hs[i]); ok {
				sum += *v
			}
		}
		return sum
	}), passes(func() (sum int) {
		for _, i := range order {
			if at := t.find(names[i]); at >= 0 {
				sum += t.values[at]
			}
		}
		return sum
	})}, handRow{"Alive", passes(func() (sum int) {
		for _, i := range order {
			if s.Alive(hs[i]) {
				sum++
			}
		}
		return sum
	}), passes(func() (sum int) {
		for _, i := range order {
			if t.find(names[i]) >= 0 {
				sum++
			}
		}
		return sum
	})}, handRow{"State", passes(func() (sum int) {
		for _, i := range order {
			sum += int(s.State(hs[i]))
		}
		return sum
	}), passes(func() (sum int) {
		for _, i := range order {
			if at := t.find(names[i]); at >= 0 && !t.dead[at] {
				sum++
			}
		}
		return sum
	})}, handRow{"Kill and Refresh of all, Create", passes(func() int {
		for _, h := range hs {
			s.Kill(h)
		}
		s.Refresh()
		fill()
		return 0
	}), passes(func() int {
		for _, h := range names {
			t.kill(h)
		}
		t.refresh()
		fillHand()
		return 0
	})}, handRow{"Kill of 1 in 50 and Refresh", passes(func() int {
		for i := 0; i < n; i += 50 {
			s.Kill(hs[i])
		}
		s.Refresh()
		for i := 0; i < n; i += 50 {
			hs[i], _ = s.Create(i)
		}
		return 0
	}), passes(func() int {
		for i := 0; i < n; i += 50 {
			t.kill(names[i])
		}
		t.refresh()
		for i := 0; i < n; i += 50 {
			names[i] = t.create(i)
		}
		return 0
	})})
	return rows
}
