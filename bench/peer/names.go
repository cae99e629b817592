package peer

import "sync/atomic"

// slots is Names for names of type N.
type slots[N any] []N

func (s *slots[N]) Len() int { return len(*s) }

// of returns the places of ns, whose names have type N.
func of[N any](ns Names) []N { return *ns.(*slots[N]) }

// named is the part of a Session that depends on the type of its names alone.
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

func (k *keys) key() uint64 {
	k.last++
	return k.last
}
