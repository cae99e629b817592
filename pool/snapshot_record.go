package pool

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"coatcheck/pool/internal/snapshot"
	"coatcheck/shard"
	"coatcheck/shard/slots"
)

// A record is read and checked as a whole before anything is done with it: its head, its length, its checksum,
// and whether it may come after those before it.

// corrupt returns an error that says what is wrong with this record.
func (sr *snapshotReader) corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: at byte %d: %w", ErrCorrupt, sr.offset, fmt.Errorf(format, args...))
}

// read appends n bytes to the record. It allocates as they arrive, so that a false length
// costs no more than the input.
func (sr *snapshotReader) read(n int) error {
	for n > 0 {
		k := min(n, max(len(sr.record), snapshot.FlushBytes/4))
		start := len(sr.record)
		sr.record = slices.Grow(sr.record, k)[:start+k]
		got, err := io.ReadFull(sr.r, sr.record[start:])
		switch {
		case snapshot.Ends(err):
			return sr.corrupt("%d bytes are missing: %w", n-got, io.ErrUnexpectedEOF)
		case err != nil:
			return fmt.Errorf("pool: ReadFrom: at byte %d: %w", sr.offset+int64(start+got), err)
		}
		n -= k
	}
	return nil
}

// next reads a record, whose payload has at most limit bytes. It calls check when it has
// read the head.
func (sr *snapshotReader) next(limit int, check func() error) error {
	if len(sr.record) > 0 {
		sr.offset += int64(len(sr.record) + snapshot.SumBytes)
	}
	sr.record = sr.record[:0]
	if err := sr.read(snapshot.HeadBytes); err != nil {
		return err
	}
	if err := check(); err != nil {
		return err
	}
	length := sr.field(3)
	if uint64(length) > uint64(limit) {
		return sr.corrupt("a length of %d bytes; the limit is %d", length, limit)
	}
	if err := sr.read(int(length) + snapshot.SumBytes); err != nil {
		return err
	}
	end := snapshot.HeadBytes + int(length)
	sr.sum = snapshot.Sum(sr.sum, sr.record[:end])
	if sum := binary.LittleEndian.Uint32(sr.record[end:]); sum != sr.sum {
		return sr.corrupt("the checksum of %d bytes, and all before them, is %08x; want %08x", end, sr.sum, sum)
	}
	sr.record = sr.record[:end]
	return nil
}

// field returns the k-th number of the record's head.
func (sr *snapshotReader) field(k int) uint32 { return binary.LittleEndian.Uint32(sr.record[4*k:]) }

// records reads everything after the header.
func (sr *snapshotReader) records() error {
	for {
		if err := sr.next(snapshot.MaxPayload, sr.head); err != nil {
			return err
		}
		sr.earn(len(sr.record) + snapshot.SumBytes)
		var err error
		switch sr.record[0] {
		case snapshot.Values:
			err = sr.values()
		case snapshot.Vacant:
			err = sr.vacant()
		case snapshot.Skips:
			err = sr.skips()
		case snapshot.Order:
			if sr.orders++; sr.plan.replays {
				sr.reuse = append(sr.reuse, sr.record[snapshot.HeadBytes:]...)
			}
		case snapshot.Generations:
			err = sr.changed()
		case snapshot.End:
			return sr.end()
		}
		if err != nil {
			return err
		}
	}
}

// earn notes that n bytes of the input pay for memory. Slots are of the pool's type, so they pay for as many as
// if these were of the type that was written.
func (sr *snapshotReader) earn(n int) {
	ratio := (sr.plan.layout.Size + sr.source.slot - 1) / sr.source.slot
	sr.restorer.Earn(uint64(n) * snapshot.ReadShare * min(uint64(ratio), 1<<20))
	sr.olds = min(sr.olds+uint64(n)*snapshot.ReadShare, 1<<62)
}

// head checks the head of a record.
func (sr *snapshotReader) head() error {
	kind, first, total := sr.field(0), uint64(sr.field(1)), uint64(sr.field(2))
	var want uint64
	switch kind {
	case snapshot.Values, snapshot.Vacant:
		if sr.again > 0 || sr.skipped > 0 || sr.orders > 0 {
			return sr.corrupt("values of slot %d after generations, skips or an order", first)
		}
		want = sr.slots
	case snapshot.Padding:
		if first != 0 || total != 0 {
			return sr.corrupt("padding of slots %d to %d", first, first+total-1)
		}
		return nil
	case snapshot.Skips:
		want = min(max(first, sr.skipped), sr.slots)
		if sr.again > 0 || sr.orders > 0 || first+total > sr.slots {
			return sr.corrupt("skips of slots %d to %d, where %d were seen", first, first+total-1, sr.slots)
		}
	case snapshot.Generations:
		// A run that was read before, in order, or the next one.
		want = min(max(first, sr.again), sr.slots)
		if first < sr.slots && first+total > sr.slots {
			return sr.corrupt("generations of slots %d to %d, where %d were seen", first, first+total-1, sr.slots)
		}
	case snapshot.Order:
		if sr.again > 0 || total != 0 || first != uint64(sr.orders) {
			return sr.corrupt("part %d of an order instead of part %d", first, sr.orders)
		}
		return nil
	case snapshot.End:
		if want = sr.slots; total != 0 {
			return sr.corrupt("an end with %d slots", total)
		}
	default:
		return sr.corrupt("no record is of kind %#x", kind)
	}
	if first != want {
		return sr.corrupt("a record of kind %d begins at slot %d instead of %d", kind, first, want)
	}
	limit := sr.mostSlots()
	if kind == snapshot.Vacant {
		limit = slots.MaxSlots
	}
	if kind != snapshot.End && (total == 0 || total > limit) {
		return sr.corrupt("a record of %d slots; the limit is %d", total, limit)
	}
	if first+total > slots.MaxSlots {
		return sr.corrupt("slots up to %d; the limit is %d", first+total, uint64(slots.MaxSlots))
	}
	return nil
}

// mostSlots returns the greatest number of slots of a record. On a 32-bit platform values may be
// smaller by half, so that a record that was written there has up to twice as many. What a slot
// takes beside counts, so that a record never takes more than twice snapshot.BlockBytes.
func (sr *snapshotReader) mostSlots() uint64 {
	return max(1, uint64(2*snapshot.BlockBytes/(sr.source.slot+shard.BesideSlot)))
}
