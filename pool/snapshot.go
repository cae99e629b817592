package pool

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"unsafe"

	"coatcheck/internal/codec"
	"coatcheck/shard"
)

// A snapshot is a header, records, and an end:
//
//	header       what T is and how its values are encoded; where generations begin
//	values       the state of a run of slots, with the values of live ones
//	 …           all slots that were handed out, in order
//	generations  the state of a run of slots, looked at again
//	 …           runs that had changed, and slots handed out meanwhile, in order
//	end          how many slots and values there were
//
// It is taken while others change the pool, and nobody is stopped, so it cannot
// show one moment. What it must not do is to let a handle come to life in the copy
// that names something else there. With one pass it would: slot 5 is written as
// vacant; then somebody inserts into it twice and leaves the second handle in a
// value that is still to be written; in the copy, that handle waits for slot 5 to
// come to its generation.
//
// Hence the second look. It comes when all values have been written, so for every
// handle in any of them its slot's word has the generation of that handle by then,
// or the one before. Where the generations of a run are no longer what they were,
// they are written anew: what the copy then has in a slot is the value that lived at
// both looks, or a vacancy beyond the second. Generations only grow (I2), so a run
// in which nothing changed is one whose generations have the same sum: the writer
// keeps 16 bytes a run, not a copy of it.
//
// Numbers are little-endian. A record is
//
//	kind (1 byte) · zeros (3) · first slot (4) · slots (4) · length (4) · payload · checksum (4)
//
// and the header the same with magic and version in place of kind and slots. The
// checksum is the CRC-32C of everything before it but other checksums, so that a
// record can be neither moved, doubled nor taken from elsewhere.
const (
	magic   = "\x89coat\r\n\x1a" // no text, and changed by whatever changes line ends
	version = 1

	recordHead = 16
	sumBytes   = 4

	// blockBytes is how much memory a record's slots take: what a copy must
	// allocate for some 20 bytes of input. A larger one would make hostile input
	// dearer, a smaller one what is vacant.
	blockBytes = 16 << 10

	// flushBytes is from which length on a record ends before its block does.
	flushBytes = 256 << 10

	// maxPayload is the most that a record holds: the generations of a block,
	// flushBytes of values, and one more.
	maxPayload = codec.MaxValue + 1<<20

	maxHeader = 1 << 13
)

// The kinds of records.
const (
	valuesRecord = 1 + iota
	generationsRecord
	endRecord
)

var (
	// ErrCorrupt says that what was read is not a whole, unchanged snapshot. If it
	// ended too early, the error wraps io.ErrUnexpectedEOF as well.
	ErrCorrupt = errors.New("pool: the snapshot is corrupt")

	// ErrVersion says that a snapshot was written in a format that this version
	// of the package does not know.
	ErrVersion = errors.New("pool: the snapshot's version is unknown")

	// ErrType says that values of the pool's type cannot be written without loss,
	// or that the snapshot is of another type.
	ErrType = codec.ErrType
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// header is what a snapshot begins with.
type header struct {
	codec.Description        // of T
	first             uint32 // Space.First
	spare             uint32 // slots that a bounded pool has beside its Capacity
}

// appendTo appends the header's payload.
func (h *header) appendTo(b []byte) []byte {
	b = append(b, byte(h.Encoding))
	b = binary.LittleEndian.AppendUint32(b, h.first)
	b = binary.LittleEndian.AppendUint32(b, h.spare)
	b = append(binary.AppendUvarint(b, uint64(len(h.Name))), h.Name...)
	return append(binary.AppendUvarint(b, uint64(len(h.Parts))), h.Parts...)
}

// parse reads a header's payload and reports whether it is one.
func (h *header) parse(b []byte) bool {
	if len(b) < 9 {
		return false
	}
	h.Encoding = codec.Encoding(b[0])
	h.first = binary.LittleEndian.Uint32(b[1:])
	h.spare = binary.LittleEndian.Uint32(b[5:])
	var ok bool
	if h.Name, b, ok = cutString(b[9:]); !ok {
		return false
	}
	h.Parts, b, ok = cutString(b)
	return ok && len(b) == 0 && h.first%2 == 1 && h.first <= shard.LastGeneration
}

// cutString reads a string that has its length before it.
func cutString(b []byte) (s string, rest []byte, ok bool) {
	n, k := binary.Uvarint(b)
	if k <= 0 || n > uint64(len(b)-k) {
		return "", nil, false
	}
	return string(b[k:][:n]), b[k:][n:], true
}

// appendRuns appends generations, those that follow each other and are equal as
// one: how many, and which, counted from first-1.
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

// parseRuns reads generations of n slots into dst and returns what is left of b.
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

// slotsOfRecord returns how many slots of T a record has at most.
func slotsOfRecord[T any]() int {
	return int(max(1, blockBytes/unsafe.Sizeof(shard.Slot[T]{})))
}
