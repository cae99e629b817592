// Package snapshot writes the records that a snapshot consists of. It is a part of package pool,
// whose snapshot.go tells what they mean, and the texts of its errors begin as that package's do.
//
// [Writer] writes one record after the other. [Flat] writes the snapshot of a pool that has some
// values and was never used otherwise: what package dense and package table write, without a pool.
//
// Numbers are little-endian. A record is
//
//	kind (1 byte) · zeros (3) · first slot (4) · slots (4) · length (4) · payload · checksum (4)
//
// and the header is the same, with magic and version instead of kind, first slot and slots.
// The checksum is the CRC-32C of all bytes before it except other checksums. So a record
// cannot be moved, repeated or taken from another snapshot.
//
// Records of slots come in the order of their indexes: values, with as many slots as fit BlockBytes, and vacant
// ones, with any number. Before the first values in a region (memory.go), and before a vacant record, records of
// padding make the snapshot as long as its memory demands, if it is shorter.
package snapshot

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"reflect"
	"unsafe"

	"coatcheck/pool/internal/codec"
	"coatcheck/shard"
	"coatcheck/shard/slots"
)

const (
	Magic   = "\x89coat\r\n\x1a" // not text, and changed by a conversion of line ends
	Version = 4                  // earlier ones were never released

	HeadBytes = 16
	SumBytes  = 4

	// BlockBytes is the memory of a record's slots, but for vacant ones. They are read under one pin, so
	// that a larger number would delay more of what is removed meanwhile. A smaller one would need more records.
	BlockBytes = 16 << 10

	// FlushBytes is the length of values at which a record ends before its block does.
	FlushBytes = 256 << 10

	// MaxPayload is the greatest length of a payload: the generations of a block, FlushBytes
	// of values, and one value more.
	MaxPayload = codec.MaxValue + 1<<20

	MaxHeader = 1 << 13
)

// The kinds of records.
const (
	Values = 1 + iota
	Generations
	End
	Skips
	Order
	Vacant
	Padding
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Sum continues a checksum by b.
func Sum(sum uint32, b []byte) uint32 { return crc32.Update(sum, castagnoli, b) }

// Header is the payload of the header:
//
//	encoding (1) · origin (4) · first live stage of slots never used (4) ·
//	T's name · what T is made of
type Header struct {
	codec.Description        // of T
	Origin            uint32 // with which generation each slot begins (slots.OriginsOf)
	Fresh             uint32 // the first live stage of slots that were never used
}

// appendTo appends the header to b.
func (h *Header) appendTo(b []byte) []byte {
	b = append(b, byte(h.Encoding))
	b = binary.LittleEndian.AppendUint32(b, h.Origin)
	b = binary.LittleEndian.AppendUint32(b, h.Fresh)
	b = append(binary.AppendUvarint(b, uint64(len(h.Name))), h.Name...)
	return append(binary.AppendUvarint(b, uint64(len(h.Parts))), h.Parts...)
}

// Parse reads a header from b and reports whether it is well-formed.
func (h *Header) Parse(b []byte) bool {
	if len(b) < 9 {
		return false
	}
	h.Encoding = codec.Encoding(b[0])
	h.Origin = binary.LittleEndian.Uint32(b[1:])
	h.Fresh = binary.LittleEndian.Uint32(b[5:])
	var ok bool
	if h.Name, b, ok = cutString(b[9:]); !ok {
		return false
	}
	h.Parts, b, ok = cutString(b)
	if !ok || len(b) > 0 || !slots.IsOrigin(h.Origin) {
		return false
	}
	o := slots.OriginsOf(h.Origin)
	return h.Fresh%2 == 1 && h.Fresh <= o.LastStage()
}

// cutString reads a string that follows its length.
func cutString(b []byte) (s string, tail []byte, ok bool) {
	n, k := binary.Uvarint(b)
	if k <= 0 || n > uint64(len(b)-k) {
		return "", nil, false
	}
	return string(b[k:][:n]), b[k:][n:], true
}

// AppendRuns appends a number for each slot as runs of equal ones: how many, and which.
func AppendRuns(b []byte, numbers []uint32) []byte {
	for len(numbers) > 0 {
		x, n := numbers[0], 1
		for n < len(numbers) && numbers[n] == x {
			n++
		}
		b = AppendRun(b, n, x)
		numbers = numbers[n:]
	}
	return b
}

// AppendRun appends a run of n slots that have a number.
func AppendRun(b []byte, n int, number uint32) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(n)), uint64(number))
}

// ParseRun reads a run of up to limit slots, and returns the rest of b. No slot has a greater number than Spent.
func ParseRun(b []byte, limit uint64) (n uint64, number uint32, remaining []byte, ok bool) {
	n, k := binary.Uvarint(b)
	if k <= 0 || n == 0 || n > limit {
		return 0, 0, nil, false
	}
	b = b[k:]
	x, k := binary.Uvarint(b)
	if k <= 0 || x > slots.Spent {
		return 0, 0, nil, false
	}
	return n, uint32(x), b[k:], true
}

// ParseRuns reads the numbers of n slots into dst, and returns the rest of b.
func ParseRuns(b []byte, dst []uint32, n int) (numbers []uint32, tail []byte, ok bool) {
	dst = dst[:0]
	for len(dst) < n {
		count, x, remaining, ok := ParseRun(b, uint64(n-len(dst)))
		if !ok {
			return nil, nil, false
		}
		for b = remaining; count > 0; count-- {
			dst = append(dst, x)
		}
	}
	return dst, b, true
}

// SlotsOf returns the greatest number of slots, of the given size, of a record.
func SlotsOf(size uintptr) int { return int(max(1, BlockBytes/size)) }

// Writer writes the records of one snapshot.
type Writer struct {
	W       io.Writer
	Written int64  // bytes
	Record  []byte // the next one, to whose end its payload is appended

	sum    uint32 // of what was written, without checksums
	memory uint64 // what the copy takes so far, as far as Pay knows
}

// Header writes the header.
func (w *Writer) Header(h *Header) error {
	w.Record = append(w.Record[:0], Magic...)
	w.Record = binary.LittleEndian.AppendUint32(w.Record, Version)
	w.Record = append(w.Record, 0, 0, 0, 0) // the length
	w.Record = h.appendTo(w.Record)
	return w.Flush()
}

// Begin starts a record.
func (w *Writer) Begin(kind byte, first uint32, slots int) {
	w.Record = append(w.Record[:0], kind, 0, 0, 0)
	w.Record = binary.LittleEndian.AppendUint32(w.Record, first)
	w.Record = binary.LittleEndian.AppendUint32(w.Record, uint32(slots))
	w.Record = append(w.Record, 0, 0, 0, 0) // the length
}

// Flush completes the record and writes it.
func (w *Writer) Flush() error {
	payload := len(w.Record) - HeadBytes
	binary.LittleEndian.PutUint32(w.Record[HeadBytes-4:], uint32(payload))
	w.sum = Sum(w.sum, w.Record)
	w.Record = binary.LittleEndian.AppendUint32(w.Record, w.sum)
	n, err := Write(w.W, w.Record)
	w.Written += int64(n)
	if err != nil {
		return fmt.Errorf("pool: WriteTo: %w", err)
	}
	return nil
}

// Pay notes that the copy needs so many bytes of memory more. If the snapshot is too short for that, Pay writes
// records of zeros, each of FlushBytes at most. The wrong version writes a single one: a reader takes none that is
// longer than MaxPayload, and Grow makes memory without a value.
func (w *Writer) Pay(memory uint64) error {
	w.memory += memory
	for {
		missing := int64(w.memory/WrittenShare) - w.Written - Granted
		if missing <= 0 {
			return nil
		}
		w.Begin(Padding, 0, 0)
		w.Record = append(w.Record, make([]byte, min(max(0, missing-HeadBytes-SumBytes), FlushBytes))...)
		if err := w.Flush(); err != nil {
			return err
		}
	}
}

// End writes the record that ends a snapshot.
func (w *Writer) End(slots uint32, values uint64) error {
	w.Begin(End, slots, 0)
	w.Record = binary.LittleEndian.AppendUint64(w.Record, values)
	return w.Flush()
}

// Flat writes the snapshot of a pool that has n values of type t, in its first n slots, each in its first life,
// whose generation is first. value returns the i-th value. Flat asks for one after the other, and needs each only
// until it asks for the next. It returns how many bytes it has written.
func Flat(dst io.Writer, t reflect.Type, first uint32, n int, value func(i int) unsafe.Pointer) (int64, error) {
	values, d, err := codec.Of(t)
	if err != nil {
		return 0, err
	}
	w := Writer{W: dst}
	if err := w.Header(&Header{Description: d, Origin: first, Fresh: 1}); err != nil {
		return w.Written, err
	}
	var run []byte
	size := t.Size() + leastBeside
	limit, memory := SlotsOf(size), MemoryOf(size)
	for written := 0; written < n; {
		run = run[:0]
		k := 0
		for k < min(limit, n-written) && len(run) < FlushBytes {
			if run, err = values.Append(run, value(written+k)); err != nil {
				return w.Written, fmt.Errorf("pool: WriteTo: value %d@%d: %w", written+k, first, err)
			}
			k++
		}
		if err := w.Pay(memory.Next(uint64(written), uint64(written+k))); err != nil {
			return w.Written, err
		}
		w.Begin(Values, uint32(written), k)
		w.Record = binary.AppendUvarint(binary.AppendUvarint(w.Record, uint64(k)), 1) // a run of their stages
		w.Record = append(w.Record, run...)
		if err := w.Flush(); err != nil {
			return w.Written, err
		}
		written += k
	}
	err = w.End(uint32(n), uint64(n))
	return w.Written, err
}

// leastBeside is how many bytes a slot takes at least besides its value, as ReadFrom counts.
const leastBeside = 8 + shard.BesideSlot
