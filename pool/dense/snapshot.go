package dense

import (
	"fmt"
	"io"

	"coatcheck/internal/handle"
	"coatcheck/pool"
)

// saved is an entry of a snapshot, which is a pool's snapshot of such entries. So it has
// the pool's encoding, checksums and limits, and there is one codec. Its entries are, in
// the order of their slots: the first generation; the values; the handles that wait to be
// issued; the exhausted slots.
//
//	Make(0, first), nil │ handle, value  … │ handle, nil  … │ 0, nil  …
type saved[T any] struct {
	Handle uint64
	Value  *T
}

// WriteTo writes a snapshot to w, from which [ReadFrom] makes a copy: the same values in
// the same order, with the same handles. It returns how many bytes it wrote.
//
// It must be called between two phases: if anything was created or killed since the last
// Refresh, it returns an error and writes nothing. Like Refresh it must have the Store to
// itself; the values stay where they are.
//
// Values are encoded, and types refused, as [pool.Pool.WriteTo] says. It takes some 24
// bytes of memory for each slot ever used.
func (s *Store[T]) WriteTo(w io.Writer) (int64, error) {
	s.phase.begin("WriteTo")
	defer s.phase.end()
	d := s.room.Load()
	if created, killed := s.taken()-s.alive, d.dead.count(); created+killed > 0 {
		return 0, fmt.Errorf("dense: WriteTo: %d values were created and %d killed since the last Refresh; call it first", created, killed)
	}
	p := pool.Must(&pool.Options[saved[T]]{Shards: 1})
	add := func(h pool.Handle[T], v *T) error {
		_, err := p.Insert(saved[T]{uint64(h), v})
		return err
	}
	err := add(handle.Make[T](0, s.first), nil)
	for i := 0; i < s.fresh+s.exhausted && err == nil; i++ {
		switch {
		case i < s.alive:
			err = add(d.handles[i], &d.values[i])
		case i < s.fresh:
			err = add(d.handles[i], nil)
		default:
			err = add(0, nil)
		}
	}
	if err != nil {
		return 0, err
	}
	return p.WriteTo(w)
}

// ReadFrom makes a Store from a snapshot that [Store.WriteTo] wrote, as [New] makes an
// empty one. Every handle that named a value names it again; every other handle that was
// issued is refused for ever. The copy issues the same handles from then on as the
// original would.
//
// Options may differ. Origin comes with the snapshot: one that is set must be the same.
// Each value that was ever live at the same time keeps a slot. A Capacity below that
// number is an error that wraps pool.ErrFull.
//
// It returns the errors of [pool.ReadFrom]. It takes as much memory, and room for a value
// for each slot.
func ReadFrom[T any](r io.Reader, opts *Options[T]) (*Store[T], error) {
	s, err := New(opts)
	if err != nil {
		return nil, err
	}
	p, err := pool.ReadFrom(r, &pool.Options[saved[T]]{Shards: 1})
	if err != nil {
		return nil, err
	}
	n := p.Len() - 1 // the entries of slots
	if n > s.Cap() {
		return nil, fmt.Errorf("%w: Options.Capacity is %d: the snapshot has %d slots", pool.ErrFull, s.options.Capacity, n)
	}
	l := loader[T]{store: s, room: makeRoom[T](max(n, 0), s.room.Load().least, s.Cap()), seen: makeMarks(max(n, 0))}
	i := -1 // the first entry belongs to no slot
	for _, e := range p.All() {
		if err := l.load(i, pool.Handle[T](e.Handle), e.Value); err != nil {
			return nil, fmt.Errorf("%w: entry %d: %w", pool.ErrCorrupt, i+1, err)
		}
		i++
	}
	if i < 0 {
		return nil, fmt.Errorf("%w: there are no entries", pool.ErrCorrupt)
	}
	if o := s.options.Origin; o != 0 && o|1 != s.first {
		return nil, fmt.Errorf("dense: Options.Origin is %d; the snapshot's generations begin at %d", o, s.first)
	}
	s.limit -= uint64(s.exhausted)
	s.tail.Store(uint64(s.alive))
	s.room.Store(l.room)
	return s, nil
}

// loader fills a Store that is not shared yet.
type loader[T any] struct {
	store *Store[T]
	room  *room[T]
	seen  marks // the indexes loaded so far
}

// load adds the entry of position i.
func (l *loader[T]) load(i int, h pool.Handle[T], v *T) error {
	s, g := l.store, h.Generation()
	named := g&1 != 0 && g <= handle.Last
	switch {
	case i < 0:
		if s.first = g; !named || h.Index() != 0 || v != nil {
			return fmt.Errorf("generations do not begin with %v", h)
		}
		return nil
	case h == 0 && v == nil:
		s.exhausted++
		return nil
	case !named || s.exhausted > 0 || v != nil && s.fresh > s.alive:
		return fmt.Errorf("no handle %v, value %v, can come here", h, v != nil)
	case int64(h.Index()) >= int64(len(l.room.slots)) || !l.seen.add(int(h.Index())):
		return fmt.Errorf("handle %v has the index of another, or none", h)
	}
	l.room.handles[i] = h
	s.fresh++
	if v == nil {
		l.room.slots[h.Index()].begin(g-1, 0)
		return nil
	}
	l.room.values[i] = *v
	l.room.slots[h.Index()].begin(g, uint32(i))
	s.alive++
	return nil
}
