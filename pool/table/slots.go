package table

import (
	"math/bits"
	"slices"

	"coatcheck/pool"
)

// A table by handles finds a row by the slot of a handle, without hashing. Other tables have a map (hashed.go).

// slotsPerPage is how many slots a page of the index has: pageBytes of occupants.
const slotsPerPage = 512

// wordBytes is the size of a pointer.
const wordBytes = bits.UintSize / 8

// occupant is the life of a slot that has a record, by its generation, and the record's row. The zero
// occupant is none, since no life has generation 0.
type occupant struct{ generation, row uint32 }

// slots is the index of a table by handles: an occupant for each slot, in pages that are made when they are
// needed. A pool has fewer than 2^32 slots, each with at most one row, so a row fits into 32 bits.
type slots[T any] struct {
	pool  *pool.Pool[T]             // what issues the handles, or nil
	live  func(pool.Handle[T]) bool // reports whether a handle is live, if pool is nil
	pages []*[slotsPerPage]occupant
	made  int // all slots below it have pages, which reserve made
}

// contains reports whether h is live.
func (x *slots[T]) contains(h pool.Handle[T]) bool {
	if x.pool != nil {
		return x.pool.Contains(h)
	}
	return x.live(h)
}

// occupantOf returns the occupant of h's slot, or nil if there is no page for it.
func (x *slots[T]) occupantOf(h pool.Handle[T]) *occupant {
	i := h.Index()
	if n := i / slotsPerPage; uint64(n) < uint64(len(x.pages)) {
		if page := x.pages[n]; page != nil {
			return &page[i%slotsPerPage]
		}
	}
	return nil
}

// provide returns the occupant of h's slot. It makes the page if there is none.
func (x *slots[T]) provide(h pool.Handle[T]) *occupant {
	n := int(h.Index() / slotsPerPage)
	if n >= len(x.pages) {
		x.pages = slices.Grow(x.pages, n+1-len(x.pages))[:n+1]
	}
	if x.pages[n] == nil {
		x.pages[n] = new([slotsPerPage]occupant)
	}
	return x.occupantOf(h)
}

func (x *slots[T]) find(h pool.Handle[T]) Index {
	o := x.occupantOf(h)
	if o == nil || o.generation != h.Generation() {
		return None
	}
	var live bool
	if x.pool != nil { // not by contains, so that Contains is inlined
		live = x.pool.Contains(h)
	} else {
		live = x.live(h)
	}
	if !live {
		return None
	}
	return Index(o.row)
}

func (x *slots[T]) claim(h pool.Handle[T], next Index, keys []pool.Handle[T]) Index {
	if !x.contains(h) {
		return None
	}
	o := x.provide(h)
	switch row := Index(o.row); {
	case o.generation == 0:
		*o = occupant{h.Generation(), uint32(next)}
		return next
	case o.generation == h.Generation(),
		// The same batch has claimed the slot, for an earlier life that has ended since.
		int(row) >= len(keys), keys[row].Generation() != o.generation:
		return None
	default: // h lives, so the key in that row is dead
		o.generation = h.Generation()
		return row
	}
}

// unclaim gives the slot of h back to the dead key whose record h would have replaced, if there is one.
func (x *slots[T]) unclaim(h pool.Handle[T], keys []pool.Handle[T]) {
	o := x.occupantOf(h)
	if int(o.row) < len(keys) {
		o.generation = keys[o.row].Generation()
	} else {
		*o = occupant{}
	}
}

// reserve makes the pages of the first n slots, or of all slots that the pool can have if these are fewer.
// A later slot gets its page with its first record.
//
// The naive index makes pages for all slots of the pool. Then to grow for ten records costs as much as the
// pool is large.
func (x *slots[T]) reserve(n int) {
	limit := pool.MaxCapacity
	if x.pool != nil {
		limit = x.pool.Cap()
	}
	n = min(n, limit)
	for ; x.made < n; x.made += slotsPerPage {
		x.provide(pool.Handle[T](x.made))
	}
}

func (x *slots[T]) empty() index[pool.Handle[T]] { return &slots[T]{pool: x.pool, live: x.live} }

// clear visits the slots of the keys. The naive clear zeroes all pages, of which there are as many as at
// the peak.
func (x *slots[T]) clear(keys []pool.Handle[T]) {
	for _, h := range keys {
		x.drop(h)
	}
}

// trim frees the pages without occupants.
func (x *slots[T]) trim() (freed int64) {
	x.made = 0
	kept := 0
	for i, page := range x.pages {
		switch {
		case page == nil:
		case *page == [slotsPerPage]occupant{}:
			x.pages[i] = nil
			freed += pageBytes
		default:
			kept = i + 1
		}
	}
	if kept < len(x.pages) {
		pages := slices.Clone(x.pages[:kept])
		freed += int64(cap(x.pages)-cap(pages)) * wordBytes
		x.pages = pages
	}
	return freed
}

func (x *slots[T]) held(h pool.Handle[T]) Index   { return Index(x.occupantOf(h).row) }
func (x *slots[T]) set(h pool.Handle[T], i Index) { x.occupantOf(h).row = uint32(i) }
func (x *slots[T]) drop(h pool.Handle[T])         { *x.occupantOf(h) = occupant{} }
func (x *slots[T]) dead(h pool.Handle[T]) bool    { return !x.contains(h) }
