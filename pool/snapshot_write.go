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

// WriteTo writes a snapshot of the pool to w, from which [ReadFrom] makes a copy: the same
// handles with the same values. It returns the number of bytes written. Other goroutines may
// use the pool meanwhile.
//
// If none does, the snapshot is exact. Otherwise it is weakly consistent, as loops are: it has
// each value that lives from beginning to end, and may have one that comes or goes meanwhile.
// Goroutines that write to a live value must synchronize with WriteTo. A handle that is part
// of a value never names another value in the copy: it names the same value or none.
//
// Values are encoded by their MarshalBinary method if T has one. If T has a fixed size, as
// defined by encoding/binary, they are written as there, in little-endian order. Otherwise
// they are encoded by their parts, each by the same rules: strings, ints, elements, fields,
// and what pointers point to. Nil slices and maps stay nil, and empty ones empty. A value to
// which two pointers point is written twice. An encoding has fewer than 2^30 bytes.
//
// WriteTo returns ErrType, with the name of the field, if values of type T would lose
// something. Such are unexported fields of a type without MarshalBinary, channels, functions,
// interfaces, uintptrs, unsafe.Pointers, and pointers in the keys of maps. It returns ErrType too if T
// has only one of MarshalBinary and UnmarshalBinary, or has one from an embedded field beside
// other fields. A value is an error if its pointers, slices and maps are nested over 1000 deep.
//
// WriteTo encodes about 16 KiB of values at a time, under a pin. It holds no pin while it
// calls w.Write, and does not copy the pool. MarshalBinary must not wait for the pool; its
// errors are returned, and its panics continue.
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
	sum     uint32 // of what was written, without checksums

	generations []uint32 // of a block
	record      []byte   // the next record
	values      []byte   // its values
	live        uint64   // values written

	looks []look // what the first look found
}

// look is what the writer keeps of a run of slots: their number, and the sum of their
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

// snapshot writes the records in order.
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
	// No value is read from here on. So the snapshot shows no handle that is issued
	// after the second look at its slot.
	last := a.Handed()
	for first := uint64(0); first < last; {
		var was look // of slots that were handed out since: none
		most := min(last-first, math.MaxInt32)
		if len(sw.looks) > 0 {
			was, sw.looks = sw.looks[0], sw.looks[1:]
			most = uint64(was.slots)
		}
		sw.see(sw.pool.pages(), uint32(first), int(most))
		now := lookAt(sw.generations)
		if now != was {
			if err := sw.changed(uint32(first)); err != nil {
				return err
			}
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
	sw.record = append(sw.record[:0], magic...)
	sw.record = binary.LittleEndian.AppendUint32(sw.record, version)
	sw.record = append(sw.record, 0, 0, 0, 0) // the length
	sw.record = h.appendTo(sw.record)
	return sw.flush()
}

// begin starts a record.
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

// block makes the record of up to most slots from index first on, and returns how many it
// has: fewer if their values are large.
//
// It holds a pin from before the first load of a word to after the last read of a value. So
// each value is of the life that its word named (L3), even if it is removed meanwhile.
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
func (sw *snapshotWriter[T]) see(t *shard.PageTable, first uint32, most int) []shard.Slot[T] {
	most = min(most, cap(sw.generations))
	slots := sw.pool.arena.Generations(t, first, sw.generations[:most])
	sw.generations = sw.generations[:len(slots)]
	return slots
}

// changed writes the generations of a run that is not what it was. In the copy, a live slot
// keeps the value of the first look if that had the same generation; otherwise it is vacant.
func (sw *snapshotWriter[T]) changed(first uint32) error {
	sw.begin(generationsRecord, first, len(sw.generations))
	sw.record = appendRuns(sw.record, sw.generations, sw.pool.arena.First)
	return sw.flush()
}
