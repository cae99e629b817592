package pool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"unsafe"

	"coatcheck/internal/codec"
	"coatcheck/shard"
)

// ReadFrom makes a pool from a snapshot that [Pool.WriteTo] wrote, with the options opts as in
// [New]. It reads the snapshot from r and no byte more.
//
// Handles that were live are live, with their values. All others that were issued are
// refused, including those of Reservations. The copy and the original issue equal handles
// from then on, and each accepts the other's, so a program that uses both must keep them apart.
//
// opts may differ from the original's options. Origin must be 0 or the original's. Values keep
// their slots. So the error wraps ErrFull if there are more values than Capacity, or if one
// has an index that a new pool with these options would not have. A snapshot of a pool with
// a Capacity fits into the same Capacity. The order of reuse starts anew.
//
// If the input is truncated, changed or not a snapshot, or if T's UnmarshalBinary fails or
// panics, the error wraps ErrCorrupt. A later format is ErrVersion, and another type
// ErrType; an error of r is wrapped. The text says where and what. ReadFrom never returns a
// part of a pool.
//
// Memory grows with the input, not with the lengths in it. Each byte takes at most 64 bytes,
// and each 20 bytes at most 32 KiB or one slot more. The last page, and values with an
// UnmarshalBinary, come on top. Checksums find accidents; they are no signature.
func ReadFrom[T any](r io.Reader, opts *Options[T]) (*Pool[T], error) {
	pl, err := opts.check()
	if err != nil {
		return nil, err
	}
	return pl.restore(r)
}

// restore reads the pool. Tests change a plan first, for pages of two slots.
func (pl plan[T]) restore(r io.Reader) (*Pool[T], error) {
	c, want, err := codec.Of[T]()
	if err != nil {
		return nil, err
	}
	sr := snapshotReader[T]{codec: c, r: r, plan: pl}
	if err := sr.header(want); err != nil {
		return nil, err
	}
	p := sr.plan.frame()
	sr.pool = p
	if err := sr.records(); err != nil {
		return nil, err
	}
	census := p.arena.Burn()
	if p.arena.Capacity > 0 && census.Live > p.arena.Capacity {
		return nil, sr.tooSmall("there are %d values", census.Live)
	}
	p.arena.Stock(census)
	p.watch()
	return p, nil
}

// snapshotReader is one call of ReadFrom.
type snapshotReader[T any] struct {
	plan  plan[T]
	pool  *Pool[T] // not shared yet
	codec codec.Codec[T]

	r   io.Reader
	at  int64  // where this record begins, in bytes
	sum uint32 // of what was read, without checksums

	record      []byte // this record, without its checksum
	generations []uint32

	slots uint64 // slots read so far: the next values record begins there
	again uint64 // the next generations record begins there or later
	live  uint64 // values read
}

// corrupt returns an error that says what is wrong with this record.
func (sr *snapshotReader[T]) corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: at byte %d: %w", ErrCorrupt, sr.at, fmt.Errorf(format, args...))
}

// read appends n bytes to the record. It allocates as they arrive, so that a false length
// costs no more than the input.
func (sr *snapshotReader[T]) read(n int) error {
	for n > 0 {
		k := min(n, max(len(sr.record), flushBytes/4))
		from := len(sr.record)
		sr.record = slices.Grow(sr.record, k)[:from+k]
		got, err := io.ReadFull(sr.r, sr.record[from:])
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return sr.corrupt("%d bytes are missing: %w", n-got, io.ErrUnexpectedEOF)
		case err != nil:
			return fmt.Errorf("pool: ReadFrom: at byte %d: %w", sr.at+int64(from+got), err)
		}
		n -= k
	}
	return nil
}

// next reads a record, whose payload has at most most bytes. It calls check when it has
// read the head.
func (sr *snapshotReader[T]) next(most int, check func() error) error {
	if len(sr.record) > 0 {
		sr.at += int64(len(sr.record) + sumBytes)
	}
	sr.record = sr.record[:0]
	if err := sr.read(recordHead); err != nil {
		return err
	}
	if err := check(); err != nil {
		return err
	}
	length := sr.field(3)
	if uint64(length) > uint64(most) {
		return sr.corrupt("a length of %d bytes; the limit is %d", length, most)
	}
	if err := sr.read(int(length) + sumBytes); err != nil {
		return err
	}
	end := recordHead + int(length)
	sr.sum = crc32.Update(sr.sum, castagnoli, sr.record[:end])
	if sum := binary.LittleEndian.Uint32(sr.record[end:]); sum != sr.sum {
		return sr.corrupt("the checksum of %d bytes, and all before them, is %08x; want %08x", end, sr.sum, sum)
	}
	sr.record = sr.record[:end]
	return nil
}

// field returns the k-th number of the record's head.
func (sr *snapshotReader[T]) field(k int) uint32 { return binary.LittleEndian.Uint32(sr.record[4*k:]) }

// header reads the header and adapts the plan to it.
func (sr *snapshotReader[T]) header(want codec.Description) error {
	err := sr.next(maxHeader, func() error {
		if string(sr.record[:len(magic)]) != magic {
			return sr.corrupt("no snapshot begins with %q", sr.record[:len(magic)])
		}
		if v := sr.field(2); v != version {
			return fmt.Errorf("%w: it is %d, known is %d", ErrVersion, v, version)
		}
		return nil
	})
	if err != nil {
		return err
	}
	var h header
	if !h.parse(sr.record[recordHead:]) {
		return sr.corrupt("the header makes no sense")
	}
	if err := want.Accepts(h.Description); err != nil {
		return err
	}
	pl := &sr.plan
	if pl.Origin != 0 && pl.Origin != h.first {
		return fmt.Errorf("pool: Options.Origin is %d; the snapshot's pool began at %d", pl.Origin, h.first)
	}
	pl.Origin = h.first
	return nil
}

// records reads everything after the header.
func (sr *snapshotReader[T]) records() error {
	for {
		if err := sr.next(maxPayload, sr.head); err != nil {
			return err
		}
		var err error
		switch sr.record[0] {
		case valuesRecord:
			err = sr.values()
		case generationsRecord:
			err = sr.changed()
		case endRecord:
			return sr.end()
		}
		if err != nil {
			return err
		}
	}
}

// head checks the head of a record.
func (sr *snapshotReader[T]) head() error {
	kind, first, slots := sr.field(0), uint64(sr.field(1)), uint64(sr.field(2))
	var want uint64
	switch kind {
	case valuesRecord:
		if sr.again > 0 {
			return sr.corrupt("values of slot %d after generations", first)
		}
		want = sr.slots
	case generationsRecord:
		// A run that was read before, in order, or the next one.
		want = min(max(first, sr.again), sr.slots)
		if first < sr.slots && first+slots > sr.slots {
			return sr.corrupt("generations of slots %d to %d, where %d were seen", first, first+slots-1, sr.slots)
		}
	case endRecord:
		if want = sr.slots; slots != 0 {
			return sr.corrupt("an end with %d slots", slots)
		}
	default:
		return sr.corrupt("no record is of kind %#x", kind)
	}
	if first != want {
		return sr.corrupt("a record of kind %d begins at slot %d instead of %d", kind, first, want)
	}
	if kind != endRecord && (slots == 0 || slots > sr.mostSlots()) {
		return sr.corrupt("a record of %d slots; the limit is %d", slots, sr.mostSlots())
	}
	if first+slots > shard.MaxSlots {
		return sr.corrupt("slots up to %d; the limit is %d", first+slots, uint64(shard.MaxSlots))
	}
	return nil
}

// mostSlots returns the greatest number of slots of a record. On a 32-bit platform slots may
// be smaller by half, so that a record that was written there has twice as many.
func (sr *snapshotReader[T]) mostSlots() uint64 {
	return max(1, uint64(2*blockBytes/unsafe.Sizeof(shard.Slot[T]{})))
}

// states reads the generations at the beginning of the payload, allocates their slots, and
// returns the rest of the payload.
func (sr *snapshotReader[T]) states() ([]byte, error) {
	n := int(sr.field(2))
	var rest []byte
	var ok bool
	sr.generations, rest, ok = parseRuns(sr.record[recordHead:], sr.generations, n, sr.plan.Origin)
	if !ok {
		return nil, sr.corrupt("the generations of slots %d to %d make no sense", sr.field(1), int(sr.field(1))+n-1)
	}
	if end := uint64(sr.field(1)) + uint64(n); end > sr.slots {
		sr.slots = end
		sr.pool.arena.Extend(min(end, sr.plan.slots))
	}
	return rest, nil
}

// values reads a values record.
func (sr *snapshotReader[T]) values() error {
	rest, err := sr.states()
	if err != nil {
		return err
	}
	a := &sr.pool.arena
	for j, g := range sr.generations {
		i := sr.field(1) + uint32(j)
		h := Handle[T](shard.Pack(g, i))
		if uint64(i) >= sr.plan.slots {
			if g%2 == 1 {
				return sr.tooSmall("the value %v lies beyond its %d slots", h, sr.plan.slots)
			}
			continue // the copy has no such slot, so no handle can become live in it
		}
		if g%2 == 1 {
			if rest, err = sr.codec.Decode(rest, a.Value(i)); err != nil {
				return sr.corrupt("value %v: %w", h, err)
			}
			sr.live++
		}
		a.Load(i, g)
	}
	if len(rest) > 0 {
		return sr.corrupt("%d bytes after the last value", len(rest))
	}
	return nil
}

// changed reads a generations record.
func (sr *snapshotReader[T]) changed() error {
	seen := sr.slots
	rest, err := sr.states()
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return sr.corrupt("%d bytes after the last generation", len(rest))
	}
	a := &sr.pool.arena
	first := uint64(sr.field(1))
	sr.again = first + uint64(len(sr.generations))
	for j, g := range sr.generations {
		i := uint32(first) + uint32(j)
		if uint64(i) >= sr.plan.slots {
			continue
		}
		was := uint32(0)
		if first < seen {
			was = a.Loaded(i)
		}
		switch {
		case g < was:
			return sr.corrupt("slot %d goes back from generation %d to %d", i, was, g)
		case g > was:
			a.Load(i, g+g%2) // a life that began after the first look has no value here: it ends
		}
	}
	return nil
}

// end reads the end record.
func (sr *snapshotReader[T]) end() error {
	payload := sr.record[recordHead:]
	if len(payload) != 8 {
		return sr.corrupt("an end of %d bytes", len(payload))
	}
	if n := binary.LittleEndian.Uint64(payload); n != sr.live {
		return sr.corrupt("the end tells of %d values, but there were %d", n, sr.live)
	}
	return nil
}

// tooSmall returns an error that says why the values do not fit into Capacity.
func (sr *snapshotReader[T]) tooSmall(format string, args ...any) error {
	return fmt.Errorf("%w: Options.Capacity is %d: %s", ErrFull, sr.plan.Capacity, fmt.Sprintf(format, args...))
}
