package dense

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"reflect"
	"slices"
	"unsafe"

	"coatcheck/pool"
	"coatcheck/pool/internal/handle"
	"coatcheck/pool/internal/snapshot"
)

// A snapshot is two snapshots of pools, so that there is one codec, and a store writes the
// types that a pool does, under the same names, with the same limits:
//
//	magic · the values, in order · the handles · checksum
//
// The checksum is that of all bytes before it, so that halves of two snapshots do not pass for one. It is the
// CRC-32 of IEEE. The halves have checksums of their own, with another polynomial: with the same one, that of
// the whole would not depend on the halves. The second half has, as handles:
//
//   - the code of the Origins as generation, with index 1 if CreateAt has chosen slots, or else 0
//   - the first stage of slots that were never used as generation, with index 0: it is higher after a Trim, and
//     in a copy
//   - the handles of the values, in order
//   - for each slot that waits the handle that it will issue, and the next to be used first; if the slot never had
//     a value, because CreateAt passed over it, with the generation passedOver, which is even
//   - 0 for each exhausted slot
const magic = "\x89dense\r\n"

const passedOver = 2

// WriteTo writes a snapshot to w, from which [ReadFrom] makes a copy: the same values in the same
// order, with the same handles. It returns the number of bytes written. If the store has not
// changed, another snapshot has the same bytes.
//
// Call WriteTo between two phases. If anything was created or killed since the last Refresh, it
// returns an error and writes nothing. Like Refresh, it must have the Store to itself. The values
// stay where they are.
//
// WriteTo encodes values, and refuses types, as [pool.Pool.WriteTo] does. If an error shows a
// handle, its index is the value's place in Values. WriteTo copies no value, and takes 8 bytes
// for each slot ever used.
func (s *Store[T]) WriteTo(w io.Writer) (int64, error) {
	s.phase.begin("WriteTo")
	defer s.phase.end()
	d := s.room.Load()
	if s.taken() > s.alive || !d.dead.empty() {
		return 0, fmt.Errorf("dense: WriteTo: values were created or killed since the last Refresh; call it first; %s", nameOf[T]())
	}
	handles := make([]pool.Handle[T], 2, 2+s.used)
	mirrors := uint32(0)
	if s.mirrors {
		mirrors = 1
	}
	handles[0], handles[1] = handle.Make[T](mirrors, s.origin), handle.Make[T](0, s.fresh)
	handles = append(handles, d.handles[:s.alive]...)
	for _, index := range slices.Backward((*s.waiting.Load())[:s.waits]) {
		next := uint32(passedOver)
		if last := d.slots[index].generation.Load(); last > 0 {
			next = last + 1
		}
		handles = append(handles, handle.Make[T](index, next))
	}
	n, err := write(w, d.values[:s.alive], handles[:2+s.used]) // 0 for each exhausted slot
	return n, snapshot.Named(err, nameOf[T]())
}

// write writes a snapshot that has these values and handles.
func write[T any](w io.Writer, values []T, handles []pool.Handle[T]) (written int64, err error) {
	sum := crc32.NewIEEE()
	summed := io.MultiWriter(w, sum)
	n, err := io.WriteString(summed, magic)
	written = int64(n)
	if err == nil {
		err = writeAll(summed, values, &written)
	}
	if err == nil {
		err = writeAll(summed, handles, &written)
	}
	if err == nil {
		n, err = snapshot.Write(w, binary.LittleEndian.AppendUint32(nil, sum.Sum32()))
		written += int64(n)
	}
	return written, err
}

// writeAll writes elements as the snapshot of a pool that has them in this order, and adds its length to
// *written.
func writeAll[V any](w io.Writer, elements []V, written *int64) error {
	n, err := snapshot.Flat(w, reflect.TypeFor[V](), 1, len(elements), func(i int) unsafe.Pointer { return unsafe.Pointer(&elements[i]) })
	*written += n
	return err
}

// ReadFrom makes a Store from a snapshot that [Store.WriteTo] wrote, with options as for [New].
// Every handle that named a value names it again; all others issued before are refused. Origin
// must be 0 or the original's; other options may differ.
//
// With Origin 0, the copy also refuses handles that the original, or another copy, issued after
// the snapshot. Only if their slot was used 65,536 times or more since may it accept one by
// chance. With Origin set, it issues the handles that the original would, for replays and
// rollbacks. But a snapshot does not say which slots of a copy have yet to leave the generations of its
// own original. If the copy was read with Origin 0, and its snapshot is read with Origin set, these slots
// may issue handles that the first original issued.
//
// It returns the errors of [pool.ReadFrom], and wraps pool.ErrFull if values exceed Capacity. It
// takes twice the memory of the values, and some 40 bytes for each slot ever used. The copy has
// no spare room. Input may be hostile: memory grows with what is read.
func ReadFrom[T any](r io.Reader, opts *Options[T]) (*Store[T], error) {
	return read(opts, r, pool.ReadFrom[T])
}

// ReadFromFunc is [ReadFrom] for values whose type has changed. It reads a snapshot of values of
// type Old, and stores what convert makes of each, in the order of Values. A handle keeps its
// number and names the converted value. [pool.ReadFromFunc] says what Old may be, and what an
// error of convert becomes; the handle in it has the value's place in Values as index.
func ReadFromFunc[Old, New any](r io.Reader, opts *Options[New], convert func(*Old) (New, error)) (*Store[New], error) {
	return read(opts, r, func(r io.Reader, opts *pool.Options[New]) (*pool.Pool[New], error) {
		return pool.ReadFromFunc(r, opts, convert)
	})
}

// read makes a Store from a snapshot, whose values readValues reads.
func read[T any](opts *Options[T], r io.Reader, readValues func(io.Reader, *pool.Options[T]) (*pool.Pool[T], error)) (*Store[T], error) {
	s, err := New(opts)
	if err != nil {
		return nil, err
	}
	if s, err = s.load(r, readValues); err != nil {
		return nil, snapshot.Named(err, nameOf[T]())
	}
	return s, nil
}

// load fills s, which is new, with what a snapshot has.
func (s *Store[T]) load(r io.Reader, readValues func(io.Reader, *pool.Options[T]) (*pool.Pool[T], error)) (*Store[T], error) {
	handles, values, err := entries(r, s.options.Capacity, readValues)
	if err != nil {
		return nil, err
	}
	n := len(handles) - 2 // slots
	switch {
	case n < len(values):
		return nil, fmt.Errorf("%w: it has %d values, and handles for %d", pool.ErrCorrupt, len(values), n)
	case n > s.slotLimit:
		return nil, fmt.Errorf("%w: it has %d slots; the limit is %d", pool.ErrCorrupt, n, s.slotLimit)
	}
	l := loader[T]{store: s, values: values, room: makeRoom[T](len(values), make([]slot, n), &s.sizes)}
	for i, h := range handles {
		if err := l.load(i-2, h); err != nil {
			return nil, fmt.Errorf("%w: entry %d: %w", pool.ErrCorrupt, i, err)
		}
	}
	switch o := s.options.Origin; {
	case o != 0 && s.origin%2 == 0:
		return nil, fmt.Errorf("dense: Options.Origin is %d; the snapshot's store drew the generations at which it began", o)
	case o != 0 && o|1 != s.origin:
		return nil, fmt.Errorf("dense: Options.Origin is %d; the snapshot's generations begin at %d", o, s.origin)
	}
	l.endLoad()
	if s.options.Origin == 0 {
		l.beginLine()
	}
	l.finish()
	return s, nil
}

// entries reads the handles and the values of a snapshot. No other goroutine uses the pool in which the
// values lie, so the pointers stay valid.
func entries[T any](r io.Reader, capacity int, readValues func(io.Reader, *pool.Options[T]) (*pool.Pool[T], error)) (handles []pool.Handle[T], values []*T, err error) {
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, nil, lost(err)
	}
	if string(head) != magic {
		return nil, nil, fmt.Errorf("%w: no snapshot of a store begins with %q", pool.ErrCorrupt, head)
	}
	sum := crc32.NewIEEE()
	sum.Write(head)
	summed := io.TeeReader(r, sum)
	vs, err := readValues(summed, &pool.Options[T]{Shards: 1, Capacity: capacity})
	if err != nil {
		return nil, nil, err
	}
	hs, err := pool.ReadFrom(summed, &pool.Options[pool.Handle[T]]{Shards: 1})
	if err != nil {
		return nil, nil, err
	}
	var end [crc32.Size]byte
	if _, err := io.ReadFull(r, end[:]); err != nil {
		return nil, nil, lost(err)
	}
	if binary.LittleEndian.Uint32(end[:]) != sum.Sum32() {
		return nil, nil, fmt.Errorf("%w: the checksum of the whole differs", pool.ErrCorrupt)
	}
	for _, v := range vs.All() {
		values = append(values, v)
	}
	for _, h := range hs.All() {
		handles = append(handles, *h)
	}
	return handles, values, nil
}

// lost returns the error of ReadFrom when bytes could not be read.
func lost(err error) error {
	if snapshot.Ends(err) {
		err = fmt.Errorf("%w: %w", pool.ErrCorrupt, io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("dense: ReadFrom: %w", err)
}

// loader fills a Store that no other goroutine has yet.
type loader[T any] struct {
	store   *Store[T]
	values  []*T
	room    *room[T]
	waiting []uint32 // the slots that wait, the next to be used first
}

// load takes a handle of the snapshot. Its number is i: -2 for the Origins, -1 for the stage of new slots,
// from 0 on those of the values, and then those of the other slots.
func (l *loader[T]) load(i int, h pool.Handle[T]) error {
	s, g, slots := l.store, h.Generation(), l.room.slots
	named := g&1 != 0 && g <= handle.Last
	passed := g == passedOver && i >= len(l.values)
	switch {
	case i == -2:
		if s.origin, s.mirrors = g, h.Index() == 1; !handle.IsOrigin(g) || h.Index() > 1 {
			return fmt.Errorf("generations do not begin with %v", h)
		}
		s.origins = handle.OriginsOf(g)
	case i == -1:
		if s.fresh = g; !named || h.Index() != 0 || g > s.origins.LastStage() {
			return fmt.Errorf("new slots do not begin with %v", h)
		}
	case h == 0 && i >= len(l.values):
		s.exhausted++
	case !named && !passed || s.exhausted > 0:
		return fmt.Errorf("no handle %v can come here", h)
	case int64(h.Index()) >= int64(len(slots)) || slots[h.Index()].generation.Load() != 0:
		return fmt.Errorf("handle %v has the index of another, or none", h)
	case i < len(l.values):
		l.room.values[i], l.room.handles[i] = *l.values[i], h
		slots[h.Index()].position = uint32(i)
		slots[h.Index()].begin(g)
		s.mirrors = s.mirrors || g < s.origins.First(h.Index())
	case g == 1:
		return fmt.Errorf("handle %v is to be issued, by a slot that never issued one", h)
	default:
		if passed {
			g++
			slots[h.Index()].position = noPosition
		}
		slots[h.Index()].end(g - 2)
		l.waiting = append(l.waiting, h.Index())
		s.mirrors = s.mirrors || passed || g <= s.origins.First(h.Index())
	}
	return nil
}

// endLoad gives the slots of no handle, and those that CreateAt passed over, what they had in the original. Until
// then the latter have a generation, so that load refuses a second handle with their index.
func (l *loader[T]) endLoad() {
	for i := range l.room.slots {
		switch sl := &l.room.slots[i]; {
		case sl.generation.Load() == 0: // the indexes that are left are those of exhausted slots
			sl.end(handle.Last)
		case sl.position == noPosition:
			*sl = slot{}
		}
	}
}

// beginLine begins a line of handles: the slots that wait jump, and so do those to come.
func (l *loader[T]) beginLine() {
	s, slots := l.store, l.room.slots
	s.line = newLine(s.origins.LastStage()/2+1, len(slots))
	for _, h := range l.room.handles {
		s.line.keep(h.Index())
	}
	l.waiting = slices.DeleteFunc(l.waiting, func(index uint32) bool {
		next := slots[index].generation.Load() + 1
		if next == 1 { // CreateAt passed over it
			next = s.origins.Generation(index, s.fresh)
		}
		next = s.line.jump(next, handle.Last)
		slots[index].end(next - 2)
		return next > handle.Last
	})
	if next := s.line.jump(s.fresh, s.origins.LastStage()); next <= s.origins.LastStage() {
		s.fresh = next
	} else {
		s.slotLimit = len(slots) // there will be no new ones
	}
}

// finish gives the Store its room, and what it counts.
func (l *loader[T]) finish() {
	s := l.store
	slices.Reverse(l.waiting)
	s.wait(l.waiting)
	s.alive, s.base, s.used = len(l.room.values), len(l.room.values), len(l.room.slots)
	s.exhausted = s.used - s.alive - s.waits
	s.bound()
	s.tail.Store(uint64(s.alive))
	s.room.Store(l.room)
}
