package peer

import "sync/atomic"

// session is a Session whose names have type N.
type session[N any] struct {
	contestant[N]
	task task[N] // kept, so that no operation allocates
	read reading // Read, unless it is nil

	close func() // unless it is nil
}

// reading looks up the value of each pick and returns the sum of their identities.
type reading = func(ns Names, picks []uint32) (sum uint64)

// places is Names for names of type N.
type places[N any] []N

func (p *places[N]) Len() int { return len(*p) }

// of returns the names of ns, which have type N.
func of[N any](ns Names) []N { return *ns.(*places[N]) }

func (s *session[N]) Names(n int) Names {
	p := make(places[N], n)
	return &p
}

// run does an operation on all names, or on those that are picked.
func (s *session[N]) run(op operation, names []N, picks []uint32, id uint64) outcome {
	s.task.operation, s.task.names, s.task.picks, s.task.id = op, names, picks, id
	return s.do(&s.task)
}

func (s *session[N]) Put(ns Names, i int, id uint64) { s.run(fill, of[N](ns)[i:i+1], nil, id) }

func (s *session[N]) Look(ns Names, i int) (id uint64, ok bool) {
	o := s.run(find, of[N](ns)[i:i+1], nil, 0)
	return o.sum, o.failed == 0
}

func (s *session[N]) Drop(ns Names, i int) bool {
	return s.run(lose, of[N](ns)[i:i+1], nil, 0).failed == 0
}

func (s *session[N]) Fill(ns Names, id uint64) { s.run(fill, of[N](ns), nil, id) }

func (s *session[N]) Empty(ns Names) (sum uint64, failed int) {
	o := s.run(empty, of[N](ns), nil, 0)
	return o.sum, o.failed
}

func (s *session[N]) Replace(ns Names, picks []uint32, id uint64) (failed int) {
	return s.run(replace, of[N](ns), picks, id).failed
}

func (s *session[N]) Read(ns Names, picks []uint32) (sum uint64) {
	if s.read != nil {
		return s.read(ns, picks)
	}
	return s.run(reads, of[N](ns), picks, 0).sum
}

func (s *session[N]) Mix(shared Names, ops []uint32, id uint64) (failed int) {
	return s.run(mix, of[N](shared), ops, id).failed
}

func (s *session[N]) Pairs(n int, id uint64) (failed int) {
	s.task.n = n
	return s.run(pairs, nil, nil, id).failed
}

func (s *session[N]) Close() {
	if s.close != nil {
		s.close()
	}
}

// keys makes names for maps: successive words. Each session has a range of its own, so
// that a new key costs no shared write. The ranges of a process are distinct, so that one
// store refuses a key of another.
type keys struct {
	last uint64
	_    [15]uint64 // so that two sessions do not share a cache line
}

const keysPerRange = 1 << 40

var ranges atomic.Uint64

func newKeys() keys { return keys{last: ranges.Add(1) * keysPerRange} }

func (k *keys) next() uint64 {
	k.last++
	return k.last
}
