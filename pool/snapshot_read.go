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

// ReadFrom makes a pool from a snapshot that [Pool.WriteTo] wrote, as [New] makes an
// empty one. It reads the snapshot from r and not a byte beyond it.
//
// Every handle that was live is live, with its value; every other one that was
// issued is refused for ever, one of an open Reservation included, because each
// vacant slot starts one incarnation later than it would have in the original.
// Original and copy accept each other's handles: those of the snapshot, which is
// its purpose, but also those that either issues later, which the other will issue
// too. Who lets both live on must keep them apart.
//
// Options may differ from the original's. Shards and Reuse are free; the order in
// which vacant slots will be reused starts anew. Origin comes with the snapshot:
// one that is set must be the same. A Capacity bounds slots here too: values keep
// their slots, so there must not be more values than Capacity, nor one whose slot
// has an index beyond what a new pool with these options would have, or the error
// wraps ErrFull. (For FIFO, that includes the slots for as many Shards as a pool
// of this Capacity may have.) A pool that was bounded fits into its own Capacity.
//
// Input that is truncated, changed, or nobody's is answered with ErrCorrupt, one in
// a later format with ErrVersion, another type's with ErrType, and an error of r as
// it is; the text says at which byte, and what. Nothing half-built is returned. An
// error, or a panic, of T's UnmarshalBinary is ErrCorrupt too.
//
// Memory grows with what has been read and not with what it claims: by at most 64
// bytes for each byte of input, and 32 KiB, or one slot if that is more, for each 20
// bytes. The last page comes on top, and so do types with an UnmarshalBinary: their
// values, and what it allocates. A Capacity bounds slots as well. The checksums find
// accidents; they are no signature.
func ReadFrom[T any](r io.Reader, opts *Options[T]) (*Pool[T], error) {
	pl, err := opts.checkCopy()
	if err != nil {
		return nil, err
	}
	return pl.restore(r)
}

// checkCopy is check for a copy, whose Origin is the original's.
func (o *Options[T]) checkCopy() (plan[T], error) {
	pl, err := o.check()
	if o == nil || o.Origin == 0 {
		pl.Origin = 0
	}
	return pl, err
}

// restore makes the pool. Tests change a plan before, for pages of two slots.
func (pl plan[T]) restore(r io.Reader) (*Pool[T], error) {
	c, want, err := codec.Of[T]()
	if err != nil {
		return nil, err
	}
	sr := snapshotReader[T]{codec: c, r: r, plan: pl}
	if err := sr.header(want); err != nil {
		return nil, err
	}
	sr.pool = sr.plan.frame()
	sr.pool.arena.Frame(sr.plan.config(sr.pool))
	if err := sr.records(); err != nil {
		return nil, err
	}
	return sr.open()
}

// snapshotReader is one call of ReadFrom.
type snapshotReader[T any] struct {
	plan  plan[T]
	pool  *Pool[T] // nobody else's before open
	codec codec.Codec[T]

	r   io.Reader
	at  int64  // how many bytes were read before this record
	sum uint32 // of what was read, checksums aside

	record      []byte // this record, its checksum aside
	generations []uint32

	slots uint64 // slots seen so far: those of the next values record follow
	again uint64 // where the next generations record may begin
	live  uint64 // values read
}

// corrupt is the error for what is wrong with this record.
func (sr *snapshotReader[T]) corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: at byte %d: %w", ErrCorrupt, sr.at, fmt.Errorf(format, args...))
}

// read appends n bytes to the record. It allocates as they come, so that a length
// that is a lie costs no more than what was sent.
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

// next reads a record up to its payload, which is of no more than most bytes
// unless ok says otherwise about its head.
func (sr *snapshotReader[T]) next(most int, ok func() error) error {
	sr.record = sr.record[:0]
	if err := sr.read(recordHead); err != nil {
		return err
	}
	if err := ok(); err != nil {
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
		return sr.corrupt("the checksum is %08x, and of these %d bytes after all before it %08x", sum, end, sr.sum)
	}
	sr.record = sr.record[:end]
	return nil
}

// done goes on to the next record.
func (sr *snapshotReader[T]) done() { sr.at += int64(len(sr.record) + sumBytes) }

// field returns the k-th number of the record's head.
func (sr *snapshotReader[T]) field(k int) uint32 { return binary.LittleEndian.Uint32(sr.record[4*k:]) }

// header reads the header and makes the plan follow it.
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
	if pl.Reuse == FIFO && pl.Capacity > 0 {
		// The original may have had more shards, and each has a slot.
		most := pl.MinFree + maxShardsOf(pl.Capacity)
		pl.slots = max(pl.slots, uint64(pl.Capacity)+min(uint64(h.spare), uint64(most)))
		pl.slots = min(pl.slots, shard.MaxSlots)
	}
	sr.done()
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
		sr.done()
	}
}

// head looks at the head of a record before its length is believed.
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
		// One that was seen already, in order, or the next ones.
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

// mostSlots is how many slots a record may have. The writer's may have been
// smaller by half, on a 32-bit platform.
func (sr *snapshotReader[T]) mostSlots() uint64 {
	return max(1, uint64(2*blockBytes/unsafe.Sizeof(shard.Slot[T]{})))
}

// states reads the generations with which the payload begins, gives memory to their
// slots, and returns the rest.
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

// values reads a record of values, each into its slot.
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
			continue // the copy has no such slot, and hence nobody to revive
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

// changed reads generations that were looked at again.
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
		case g == was:
		case g%2 == 1:
			a.Load(i, g+1) // lives in the original, too late for its value
		default:
			a.Load(i, g)
		}
	}
	return nil
}

// end reads the end.
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

// open makes the loaded slots a pool.
func (sr *snapshotReader[T]) open() (*Pool[T], error) {
	p, a := sr.pool, &sr.pool.arena
	c := a.Burn()
	if a.Capacity > 0 && c.Live > a.Capacity {
		return nil, sr.tooSmall("there are %d values", c.Live)
	}
	a.Stock(c)
	sr.plan.complete(p)
	return p, nil
}

// tooSmall is the error for a Capacity that the values do not fit.
func (sr *snapshotReader[T]) tooSmall(format string, args ...any) error {
	return fmt.Errorf("%w: Options.Capacity is %d: %s", ErrFull, sr.plan.Capacity, fmt.Sprintf(format, args...))
}
