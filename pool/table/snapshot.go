package table

import (
	"encoding"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"reflect"
	"runtime"
	"unsafe"

	"coatcheck/pool"
	"coatcheck/pool/internal/codec"
	"coatcheck/pool/internal/snapshot"
)

// A snapshot has the records in pieces, each of which is the snapshot of a pool with some of
// them, so that there is one codec, and a table writes the types that a pool does, with the
// same limits:
//
//	magic (8) · version (4) · how many records (8) · pieces · checksum (4)
//
// The records are in the order of their Index. There is one piece at least, which tells the
// types. Numbers are little-endian. The checksum, the CRC-32 of IEEE, is of all that comes
// before it, so that pieces of two snapshots do not pass for one.
//
// So no copy of the table is made. ReadFrom fills another table and takes its columns at the end,
// so an error changes nothing.
const (
	magic   = "\x89table\r\n"
	version = 1

	// pieceBytes is the memory of the records of a piece, and pieceRecords how many they are
	// at most. Both ends hold a pool of that size. A piece costs some 200 bytes.
	pieceBytes   = 256 << 10
	pieceRecords = 4 << 10
)

// entry is a record with its key: a value of a piece. Snapshots contain the name of this type.
type entry[K, R any] struct {
	Key    K
	Record R
}

// WriteTo writes a snapshot to w, from which [Table.ReadFrom] makes the same records, by the same
// keys, in the same order. It returns the number of bytes written. Other goroutines may read the
// table meanwhile. Equal records in the same order make equal bytes, unless their methods do not.
//
// WriteTo encodes keys and records, and refuses types, as [pool.Pool.WriteTo] does. The error
// also wraps pool.ErrType if a key would not equal its copy, as with a pointer or a time.Time
// with a monotonic reading. A handle in an error has the record's place in its piece of 256 KiB
// as index.
//
// Records of handles that the pool refuses are written too; to leave them out, call
// [Table.RemoveDead] before. Write the pool beside the table, while nobody changes either.
func (t *Table[K, R]) WriteTo(w io.Writer) (int64, error) {
	if t.index == nil {
		panic(zeroTable)
	}
	s := stream{w: w, head: binary.LittleEndian.AppendUint32([]byte(magic), version)}
	s.head = binary.LittleEndian.AppendUint64(s.head, uint64(t.rows.n))
	n := recordsOfPiece[K, R]()
	copies, err := copiesOf[K]()
	if err != nil {
		return 0, snapshot.Named(fmt.Errorf("table: WriteTo: %w", err), nameOf[K, R]())
	}
	var e entry[K, R]
	for first := 0; first == 0 || first < t.rows.n; first += n {
		if err := t.writePiece(&s, first, min(first+n, t.rows.n), &e, copies); err != nil {
			return s.n, snapshot.Named(fmt.Errorf("table: WriteTo: of the records from %d on: %w", first, snapshot.Bare(err)), nameOf[K, R]())
		}
	}
	_, err = s.Write(binary.LittleEndian.AppendUint32(nil, s.sum))
	return s.n, err
}

// nameOf returns the name that errors give a table.
func nameOf[K comparable, R any]() string {
	return fmt.Sprintf("Table[%v, %v]", reflect.TypeFor[K](), reflect.TypeFor[R]())
}

// recordsOfPiece returns how many records a piece has. The last piece may have fewer.
func recordsOfPiece[K, R any]() int {
	if size := reflect.TypeFor[entry[K, R]]().Size(); size > pieceBytes/pieceRecords {
		return max(1, pieceBytes/int(size))
	}
	return pieceRecords
}

// writePiece writes the records from first on, up to end. If copies is not nil, each key must equal
// its copy.
func (t *Table[K, R]) writePiece(s *stream, first, end int, e *entry[K, R], copies *codec.Copier) error {
	if copies != nil {
		if err := mustKeep(t.keys[first:end], copies); err != nil {
			return err
		}
	}
	_, err := snapshot.Flat(s, reflect.TypeFor[entry[K, R]](), 1, end-first, func(i int) unsafe.Pointer {
		e.Key = t.keys[first+i]
		load(&t.rows.places, Index(first+i), &e.Record)
		return unsafe.Pointer(e)
	})
	return err
}

// copiesOf returns a Copier of keys, or nil if each key equals its copy for certain: numbers and strings
// do, unless they encode themselves.
func copiesOf[K comparable]() (*codec.Copier, error) {
	typ := reflect.TypeFor[K]()
	if k := typ.Kind(); (k <= reflect.Complex128 || k == reflect.String) && !reflect.PointerTo(typ).Implements(reflect.TypeFor[encoding.BinaryMarshaler]()) {
		return nil, nil
	}
	return codec.Copies(typ)
}

// mustKeep returns an error that wraps ErrType if one of the keys does not equal its copy.
func mustKeep[K comparable](keys []K, copies *codec.Copier) error {
	var zero, key, copied K
	for i := range keys {
		key, copied = keys[i], zero
		if err := copies.Copy(unsafe.Pointer(&key), unsafe.Pointer(&copied)); err != nil {
			return fmt.Errorf("key %v of type %T: %w", keys[i], keys[i], err)
		}
		if copied != keys[i] {
			return fmt.Errorf("%w: key %v of type %T is not equal to its copy", pool.ErrType, keys[i], keys[i])
		}
	}
	return nil
}

// ReadFrom replaces all records of t by those of a snapshot that [Table.WriteTo] wrote, in the
// same order. The layout may differ. It returns the number of bytes read, and reads none beyond
// the snapshot. Every Index and reference ends, and every View stays valid. It does not call
// OnMove functions.
//
// In a table by handles, ReadFrom leaves out records whose handles the pool refuses, and
// later records move up. So first read the pool by [pool.ReadFrom], and make the table for it.
//
// The error wraps pool.ErrCorrupt, pool.ErrVersion or pool.ErrType, or r's error; t has not
// changed then. Input may be hostile: memory grows as in pool.ReadFrom and Add. Both old and new
// records are in memory until ReadFrom returns.
func (t *Table[K, R]) ReadFrom(r io.Reader) (int64, error) {
	return t.readFrom(r, recordsOfPiece[K, R](), pool.ReadFrom[entry[K, R]])
}

// ReadFromFunc is [Table.ReadFrom] for records whose type has changed. It reads a snapshot of
// records of type Old, and stores what convert makes of each, in the order of their Index.
// [pool.ReadFromFunc] says what Old may be, and what an error of convert becomes; the handle in it
// has the record's place in its piece as index.
func ReadFromFunc[Old any, K comparable, R any](t *Table[K, R], r io.Reader, convert func(*Old) (R, error)) (int64, error) {
	convertRecord := func(e *entry[K, Old]) (entry[K, R], error) {
		record, err := convert(&e.Record)
		return entry[K, R]{e.Key, record}, err
	}
	return t.readFrom(r, recordsOfPiece[K, Old](), func(r io.Reader, opts *pool.Options[entry[K, R]]) (*pool.Pool[entry[K, R]], error) {
		return pool.ReadFromFunc(r, opts, convertRecord)
	})
}

// pieceReader reads a piece of a snapshot.
type pieceReader[K, R any] func(io.Reader, *pool.Options[entry[K, R]]) (*pool.Pool[entry[K, R]], error)

// readFrom replaces all records by those of a snapshot. readPiece reads a piece, which has perPiece records,
// or fewer if it is the last.
func (t *Table[K, R]) readFrom(r io.Reader, perPiece int, readPiece pieceReader[K, R]) (int64, error) {
	t.change()
	s := stream{r: r}
	next, err := t.read(&s, perPiece, readPiece)
	if err != nil {
		return s.n, snapshot.Named(fmt.Errorf("table: ReadFrom: after %d bytes: %w", s.n, err), nameOf[K, R]())
	}
	t.change() // r may have changed it
	t.adopt(next)
	return s.n, nil
}

// read returns a new table that has the records of a snapshot.
func (t *Table[K, R]) read(s *stream, perPiece int, readPiece pieceReader[K, R]) (*Table[K, R], error) {
	head := make([]byte, len(magic)+12)
	if err := s.fill(head); err != nil {
		return nil, err
	}
	if string(head[:len(magic)]) != magic {
		return nil, fmt.Errorf("%w: no snapshot of a table begins with %q", pool.ErrCorrupt, head[:len(magic)])
	}
	if v := binary.LittleEndian.Uint32(head[len(magic):]); v != version {
		return nil, fmt.Errorf("%w: it is %d, known is %d", pool.ErrVersion, v, version)
	}
	next, err := build[K, R](t.rows.layout, t.index.empty())
	if err != nil {
		return nil, err
	}
	missing := binary.LittleEndian.Uint64(head[len(magic)+4:])
	for first := true; first || missing > 0; first = false {
		// The Capacity bounds what forged vacant slots take. On a 32-bit platform records may be
		// smaller by half, so that a piece that was written there has twice as many.
		limit := max(1, min(missing, 2*uint64(perPiece)))
		p, err := readPiece(s, &pool.Options[entry[K, R]]{Shards: 1, Capacity: int(limit)})
		err = snapshot.Bare(err)
		if _, full := err.(snapshot.Full); full {
			err = fmt.Errorf("%w: a piece of too many records: %w", pool.ErrCorrupt, err)
		}
		if err != nil {
			return nil, err
		}
		n := uint64(p.Len())
		if n > missing || n == 0 && missing > 0 {
			return nil, fmt.Errorf("%w: a piece of %d records, where %d are missing", pool.ErrCorrupt, n, missing)
		}
		if err := next.addPiece(p); err != nil {
			return nil, err
		}
		missing -= n
	}
	want := s.sum
	var end [crc32.Size]byte
	if err := s.fill(end[:]); err != nil {
		return nil, err
	}
	if sum := binary.LittleEndian.Uint32(end[:]); sum != want {
		return nil, fmt.Errorf("%w: the checksum of the whole is %08x, want %08x", pool.ErrCorrupt, sum, want)
	}
	return next, nil
}

// addPiece adds the records of a piece. A key that was decoded by a method of its own may be
// one that a map cannot hash.
func (t *Table[K, R]) addPiece(p *pool.Pool[entry[K, R]]) (err error) {
	defer func() {
		if v := recover(); v != nil {
			hashing, ok := v.(runtime.Error)
			if !ok {
				panic(v)
			}
			err = fmt.Errorf("%w: a key: %w", pool.ErrCorrupt, hashing)
		}
	}()
	for _, e := range p.All() {
		n := t.rows.n
		if i := t.Add(e.Key, e.Record); int(i) != n && !t.index.dead(e.Key) {
			return fmt.Errorf("%w: key %v of record %d cannot be added to those before", pool.ErrCorrupt, e.Key, n)
		}
	}
	return nil
}

// adopt makes the records of src those of t. Nobody uses src afterwards.
func (t *Table[K, R]) adopt(src *Table[K, R]) {
	copy(t.rows.columns, src.rows.columns) // Views point into them
	t.rows.n, t.rows.allocated, t.rows.key = src.rows.n, src.rows.allocated, src.rows.key
	t.rows.places = src.rows.places
	t.index = src.index
	t.attachKeys()
}

// stream counts and sums what is read or written.
type stream struct {
	r    io.Reader
	w    io.Writer
	head []byte // written before what is written first
	n    int64
	sum  uint32
}

func (s *stream) pass(b []byte) {
	s.n += int64(len(b))
	s.sum = crc32.Update(s.sum, crc32.IEEETable, b)
}

func (s *stream) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	s.pass(b[:n])
	return n, err
}

func (s *stream) Write(b []byte) (int, error) {
	if head := s.head; head != nil {
		s.head = nil
		if _, err := s.Write(head); err != nil {
			return 0, err
		}
	}
	n, err := snapshot.Write(s.w, b)
	s.pass(b[:n])
	return n, err
}

// fill reads all of b. Input that ends before is corrupt.
func (s *stream) fill(b []byte) error {
	_, err := io.ReadFull(s, b)
	if snapshot.Ends(err) {
		return fmt.Errorf("%w: %w", pool.ErrCorrupt, io.ErrUnexpectedEOF)
	}
	return err
}
