package peer

import "sync/atomic"

// slots is Names for names of type N.
type slots[N any] []N

func (s *slots[N]) Len() int { return len(*s) }

// of returns the places of ns, which came from a session with names of the same N.
func of[N any](ns Names) []N { return *ns.(*slots[N]) }

// named is the part of a Session that only depends on what its names are. Its
// Close has nothing to do.
type named[N any] struct{}

func (named[N]) Names(n int) Names {
	s := make(slots[N], n)
	return &s
}

func (named[N]) Close() {}

// words is named for names that are words. The zero word names nothing.
type words struct{ named[uint64] }

func (words) Publish(ns Names, shared []atomic.Uint64) {
	for i, n := range of[uint64](ns) {
		shared[i].Store(n)
	}
}

// keys are names for maps: words that count and are never used again. Each session
// has a range of its own, so that handing out a key costs nothing that is shared,
// and the ranges of a process are distinct, so that a key of one store means
// nothing to another.
type keys struct {
	last uint64
	_    [15]uint64 // the counters of two sessions lie in different cache lines
}

const keysPerRange = 1 << 40

var ranges atomic.Uint64

// newKeys returns a range that nobody else has.
func newKeys() keys { return keys{last: ranges.Add(1) * keysPerRange} }

// key returns a new key.
func (k *keys) key() uint64 {
	k.last++
	return k.last
}
