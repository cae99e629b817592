package pool

import (
	"encoding/binary"
	"errors"
	"hash/crc32"

	"coatcheck/pool/internal/codec"
	"coatcheck/shard"
)

// A snapshot has a header, records and an end:
//
//	header       what T is and how its values are encoded; the first generations
//	values       the generations of a run of slots, with the values of live ones
//	 …           all slots that were handed out, in order
//	skips        how many lives a run of slots skips at its next reuse
//	 …           runs in which any slot does, in order: the pool was restored itself
//	order        the order of reuse, of a pool that replays
//	generations  the generations of a run of slots, read a second time
//	 …           runs that have changed, and slots handed out meanwhile, in order
//	end          how many slots and values there are
//
// Other goroutines use the pool while it is written, so a snapshot does not show one moment.
// But no handle may name another value in the copy than it named in the original.
//
// With one look at each slot it could. Slot 5 is written as vacant. Then a goroutine inserts
// into it twice, and stores the second handle in a value that is written later. In the copy,
// that handle becomes live when slot 5 reaches its generation.
//
// Hence the second look, when all values have been written. For each handle in any of
// them, the word of its slot then has the handle's generation, or the one before, or a later
// one. The generations of runs that have changed are written again. So a slot of the copy has
// the value that was live at both looks, or is vacant beyond the second one.
// Generations only grow (I2), so a run has changed if and only if the sum of its generations
// has: the writer keeps 16 bytes a run.
//
// Numbers are little-endian. A record is
//
//	kind (1 byte) · zeros (3) · first slot (4) · slots (4) · length (4) · payload · checksum (4)
//
// and the header is the same, with magic and version instead of kind, first slot and slots.
// The checksum is the CRC-32C of all bytes before it except other checksums. So a record
// cannot be moved, repeated or taken from another snapshot. The payloads are
//
//	header       encoding (1) · least first generation (4) · first one of slots never used (4) ·
//	             T's name · what T is made of
//	values       generations as runs (how many, which) · the values of the odd ones
//	skips        runs (how many slots, how many lives)
//	order        a part of the order (shard/order.go); the first slot is the number of the part
//	generations  generations as runs
//	end          values in all (8); the slots are all slots
//
// where counts and generations are varints, the latter less First − 1.
const (
	magic   = "\x89coat\r\n\x1a" // not text, and changed by a conversion of line ends
	version = 2                  // 1 had neither skips, nor an order, nor a generation of slots that were never used

	recordHead = 16
	sumBytes   = 4

	// blockBytes is the memory of a record's slots, which ReadFrom allocates for some 20
	// bytes of input. If it were larger, hostile input could allocate more. If it were
	// smaller, vacant slots would need more records.
	blockBytes = 16 << 10

	// flushBytes is the length of values at which a record ends before its block does.
	flushBytes = 256 << 10

	// maxPayload is the greatest length of a payload: the generations of a block, flushBytes
	// of values, and one value more.
	maxPayload = codec.MaxValue + 1<<20

	maxHeader = 1 << 13
)

// The kinds of records.
const (
	valuesRecord = 1 + iota
	generationsRecord
	endRecord
	skipsRecord
	orderRecord
)

var (
	// ErrCorrupt means that the input is not a complete, unchanged snapshot. If the input
	// ends too early, the error wraps io.ErrUnexpectedEOF too.
	ErrCorrupt = errors.New("pool: the snapshot is corrupt")

	// ErrVersion means that this version of the package does not know the snapshot's format.
	ErrVersion = errors.New("pool: the snapshot's version is unknown")

	// ErrType means that values of the pool's type cannot be encoded without loss, or that the
	// snapshot has values of another type.
	ErrType = codec.ErrType
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// header is the payload of the header.
type header struct {
	codec.Description        // of T
	first             uint32 // the least live generation of any slot
	fresh             uint32 // the first one of slots that were never used
}

// appendTo appends the header to b.
func (h *header) appendTo(b []byte) []byte {
	b = append(b, byte(h.Encoding))
	b = binary.LittleEndian.AppendUint32(b, h.first)
	b = binary.LittleEndian.AppendUint32(b, h.fresh)
	b = append(binary.AppendUvarint(b, uint64(len(h.Name))), h.Name...)
	return append(binary.AppendUvarint(b, uint64(len(h.Parts))), h.Parts...)
}

// parse reads the header of a snapshot of version v from b and reports whether it is well-formed.
func (h *header) parse(b []byte, v uint32) bool {
	if len(b) < 9 {
		return false
	}
	h.Encoding = codec.Encoding(b[0])
	h.first = binary.LittleEndian.Uint32(b[1:])
	h.fresh = h.first // version 1 has other things in its place
	if v > 1 {
		h.fresh = binary.LittleEndian.Uint32(b[5:])
	}
	var ok bool
	if h.Name, b, ok = cutString(b[9:]); !ok {
		return false
	}
	h.Parts, b, ok = cutString(b)
	return ok && len(b) == 0 && h.first%2 == 1 && h.fresh%2 == 1 && h.first <= h.fresh && h.fresh <= shard.LastGeneration
}

// cutString reads a string that follows its length.
func cutString(b []byte) (s string, rest []byte, ok bool) {
	n, k := binary.Uvarint(b)
	if k <= 0 || n > uint64(len(b)-k) {
		return "", nil, false
	}
	return string(b[k:][:n]), b[k:][n:], true
}

// appendRuns appends generations as runs of equal ones: how many, and which, less first-1.
func appendRuns(b []byte, generations []uint32, first uint32) []byte {
	for len(generations) > 0 {
		g, n := generations[0], 1
		for n < len(generations) && generations[n] == g {
			n++
		}
		b = binary.AppendUvarint(b, uint64(n))
		b = binary.AppendUvarint(b, uint64(g-(first-1)))
		generations = generations[n:]
	}
	return b
}

// parseRuns reads the generations of n slots into dst, and returns the rest of b.
func parseRuns(b []byte, dst []uint32, n int, first uint32) (generations []uint32, rest []byte, ok bool) {
	dst = dst[:0]
	for len(dst) < n {
		count, k := binary.Uvarint(b)
		if k <= 0 || count == 0 || count > uint64(n-len(dst)) {
			return nil, nil, false
		}
		b = b[k:]
		g, k := binary.Uvarint(b)
		if k <= 0 || g > uint64(shard.Spent-(first-1)) {
			return nil, nil, false
		}
		b = b[k:]
		for range count {
			dst = append(dst, uint32(g)+first-1)
		}
	}
	return dst, b, true
}

// slotsOfRecord returns the greatest number of slots, of the given size, of a record.
func slotsOfRecord(size uintptr) int { return int(max(1, blockBytes/size)) }
