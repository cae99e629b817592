package pool

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"coatcheck/internal/codec"
	"coatcheck/shard"
)

// WriteTo writes a snapshot of the pool to w, from which [ReadFrom] makes a copy:
// the same handles with the same values. It returns how many bytes it wrote. The
// pool may be used meanwhile.
//
// When nobody changes the pool, the snapshot is exact. Otherwise it is weakly
// consistent, as loops are: what lives from beginning to end is in it, what comes
// or goes meanwhile is in it or not, and a value that others write to needs their
// synchronization. But a handle that is part of a value never comes to name
// another one: in the copy it names what it named, or nothing for ever.
//
// Values are encoded by T's MarshalBinary if it has one; if not and T is made of
// numbers and bools alone (those that encoding/binary knows; int, uint and uintptr
// are none of them), as these, without gaps, in little-endian order; else by parts:
// strings, ints, elements, fields and what pointers point to, each of them by the
// same rules. Nil and empty slices and maps stay apart. What two pointers share
// comes back twice. The encoding of a value is at most 2^30 bytes long; one that is
// longer is an error.
//
// A T that would lose something in silence is refused with ErrType, which names the
// field: an unexported one in a type without a MarshalBinary, a channel, a function,
// an interface, a uintptr, an unsafe.Pointer, or a pointer within a map's key. So is
// a type that has MarshalBinary or UnmarshalBinary alone, or has either from an
// embedded field beside other fields. A value in which pointers, slices and maps are
// nested 1000 deep or more, or lead back to themselves, is refused when it is met. An
// error, or a panic, of MarshalBinary comes up; it runs under a pin, and so must not
// wait for the pool.
//
// Values are encoded some 16 KiB at a time, under a pin; the pool is not pinned
// while w is written to. There is no copy of the pool in memory.
func (p *Pool[T]) WriteTo(w io.Writer) (int64, error) {
	p.pages()
	c, d, err := codec.Of[T]()
	if err != nil {
		return 0, err
	}
	sw := snapshotWriter[T]{
		pool: p, codec: c, w: w,
		generations: make([]uint32, slotsOfRecord[T]()),
	}
	err = sw.snapshot(d)
	return sw.written, err
}

// snapshotWriter is one call of WriteTo.
type snapshotWriter[T any] struct {
	pool  *Pool[T]
	codec codec.Codec[T]

	w       io.Writer
	written int64
	sum     uint32 // of what was written, checksums aside

	generations []uint32 // of a block
	record      []byte   // the record that is being made
	values      []byte   // its values
	live        uint64   // values written

	looks []look // what the first look found
}

// look is what is kept of a run of slots: how many, and the sum of their
// generations.
type look struct {
	slots uint32
	sum   uint64
}

func lookAt(generations []uint32) look {
	l := look{slots: uint32(len(generations))}
	for _, g := range generations {
		l.sum += uint64(g)
	}
	return l
}

func (sw *snapshotWriter[T]) snapshot(d codec.Description) error {
	if err := sw.header(d); err != nil {
		return err
	}
	a := &sw.pool.arena
	handed := a.Handed()
	for first := uint64(0); first < handed; {
		n, err := sw.block(uint32(first), handed-first)
		if err == nil {
			err = sw.flush()
		}
		if err != nil {
			return err
		}
		first += uint64(n)
	}
	// No value is looked at any more, so that no handle can come to be known
	// whose slot is looked at for the last time already.
	last := a.Handed()
	first := uint64(0)
	for _, was := range sw.looks {
		if sw.again(uint32(first), int(was.slots)) != was {
			if err := sw.changed(uint32(first), int(was.slots)); err != nil {
				return err
			}
		}
		first += uint64(was.slots)
	}
	for first < last {
		now := sw.again(uint32(first), int(min(last-first, math.MaxInt32)))
		if err := sw.changed(uint32(first), int(now.slots)); err != nil {
			return err
		}
		first += uint64(now.slots)
	}
	sw.begin(endRecord, uint32(last), 0)
	sw.record = binary.LittleEndian.AppendUint64(sw.record, sw.live)
	return sw.flush()
}

// header writes the header.
func (sw *snapshotWriter[T]) header(d codec.Description) error {
	h := header{Description: d, first: sw.pool.arena.First}
	if c := sw.pool.arena.Capacity; c > 0 {
		h.spare = uint32(sw.pool.arena.Slots - c)
	}
	sw.record = append(sw.record[:0], magic...)
	sw.record = binary.LittleEndian.AppendUint32(sw.record, version)
	sw.record = append(sw.record, 0, 0, 0, 0) // the length
	sw.record = h.appendTo(sw.record)
	return sw.flush()
}

// begin begins a record.
func (sw *snapshotWriter[T]) begin(kind byte, first uint32, slots int) {
	sw.record = append(sw.record[:0], kind, 0, 0, 0)
	sw.record = binary.LittleEndian.AppendUint32(sw.record, first)
	sw.record = binary.LittleEndian.AppendUint32(sw.record, uint32(slots))
	sw.record = append(sw.record, 0, 0, 0, 0) // the length
}

// flush completes the record and writes it.
func (sw *snapshotWriter[T]) flush() error {
	payload := len(sw.record) - recordHead
	binary.LittleEndian.PutUint32(sw.record[recordHead-4:], uint32(payload))
	sw.sum = crc32.Update(sw.sum, castagnoli, sw.record)
	sw.record = binary.LittleEndian.AppendUint32(sw.record, sw.sum)
	n, err := sw.w.Write(sw.record)
	sw.written += int64(n)
	if err == nil && n < len(sw.record) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return fmt.Errorf("pool: WriteTo: %w", err)
	}
	return nil
}

// block makes the record of up to most slots from index first on, and returns how
// many it took: fewer if their values are large.
//
// The pin comes before the words are read and goes after the values have been, so
// that each is the value of the incarnation that its word named (L3), also when it
// was removed between.
func (sw *snapshotWriter[T]) block(first uint32, most uint64) (n int, err error) {
	g := sw.pool.Pin()
	defer g.Unpin() // also when the codec panics
	slots := sw.see(g.pages(), first, int(min(most, math.MaxInt32)))
	sw.values = sw.values[:0]
	for n < len(slots) && len(sw.values) < flushBytes {
		if sw.generations[n]%2 == 1 {
			sw.values, err = sw.codec.Append(sw.values, &slots[n].Value)
			if err != nil {
				h := Handle[T](shard.Pack(sw.generations[n], first+uint32(n)))
				return n, fmt.Errorf("pool: WriteTo: value %v: %w", h, err)
			}
			sw.live++
		}
		n++
	}
	sw.looks = append(sw.looks, lookAt(sw.generations[:n]))
	sw.begin(valuesRecord, first, n)
	sw.record = appendRuns(sw.record, sw.generations[:n], sw.pool.arena.First)
	sw.record = append(sw.record, sw.values...)
	return n, nil
}

// see reads the generations of up to most slots of a block, and returns the slots.
func (sw *snapshotWriter[T]) see(t *shard.Pages, first uint32, most int) []shard.Slot[T] {
	most = min(most, cap(sw.generations))
	slots := sw.pool.arena.Generations(t, first, sw.generations[:most])
	sw.generations = sw.generations[:len(slots)]
	return slots
}

// again looks at slots for the second time.
func (sw *snapshotWriter[T]) again(first uint32, most int) look {
	sw.see(sw.pool.pages(), first, most)
	return lookAt(sw.generations)
}

// changed writes what again saw of a block that is not what it was. A live slot
// keeps its value in the copy if it had it at the first look, with the same
// generation; otherwise it is vacant there.
func (sw *snapshotWriter[T]) changed(first uint32, slots int) error {
	sw.begin(generationsRecord, first, slots)
	sw.record = appendRuns(sw.record, sw.generations, sw.pool.arena.First)
	return sw.flush()
}
