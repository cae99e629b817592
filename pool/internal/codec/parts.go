package codec

import (
	"fmt"
	"reflect"
)

// Values that are neither of fixed size nor encode themselves are written by their parts:
//
//	a type with MarshalBinary   length · its encoding
//	a type of fixed size        as by encoding/binary
//	a number of variable length number.go
//	string                      length · bytes
//	slice                       0 for nil, or 1 + length · elements
//	map                         0 for nil, or 1 + length, filled up to mapHead bytes · keys and elements in turn
//	pointer                     0 for nil, or 1 (1) · what it points to
//	array, struct               elements, or fields without those named _ or left out
//
// where a length is a number. The encoding does not name the types: the snapshot's header
// describes T, and a snapshot of another type is refused.
//
// Input may be forged. A value of n bytes in a snapshot can make ReadFrom allocate at
// most memoryFactor·n bytes, and what the allocator rounds up: at most a quarter of them, so 80·n
// bytes in all. Three rules ensure that. For each type that is allocated, the
// memory of a value is at most that multiple of its shortest encoding; partsOf refuses
// other types. The shortest encoding of a type that encodes itself is chosen so that this is
// true: a value whose own encoding is shorter is refused, when it is written, and when it is
// read. And a decoder allocates only for what it has claimed: bytes of the input
// that no other part can claim (see partsDecoder).
//
// A type that the first rule would refuse is written wide: its numbers are of fixed size, and each
// length has 4 bytes. So numbers of variable length refuse no type.

const (
	// memoryFactor is how many bytes of memory a byte of input may cost, before the allocator rounds
	// them up. The most expensive types are maps with one entry, which have room for eight.
	memoryFactor = 64

	// spareFactor is the same for an entry of a map that has spare bytes. Content pays by them for the
	// entry, and for up to two bytes of its own: the allocator rounds 9 bytes up to 16.
	spareFactor = memoryFactor - 2

	// A map with one entry has room for smallMap, and a larger one for up to mapRoom times as
	// many entries as it has, with a byte for each. Tables that a map outgrows, since its hash fills
	// them unequally, are in mapRoom. mapBytes are the map itself.
	smallMap = 9
	mapRoom  = 3
	mapBytes = 48

	// mapHead is the length of what comes before a map's entries. A map of one small entry
	// affords its memory by it, without the shortest length, which pays for the map's place.
	mapHead = 8

	// maxDepth is how deeply pointers, slices and maps may be nested. A level takes some
	// 1 KiB of stack. A cycle ends here as well.
	maxDepth = 1000

	// wideLength is the length of a length in a type that is written wide, and the greatest that
	// a small length of another type is filled up to.
	wideLength = 4
)

// part tells how values of a type are written and read.
type part struct {
	typ      reflect.Type
	kind     reflect.Kind
	marshals bool       // by MarshalBinary
	appends  bool       // and by AppendBinary
	fixed    *fixed     // or as numbers of fixed size, if it is not nil
	number   numberKind // or as a number of variable length, if it is not noNumber
	shortest int        // how many bytes the shortest encoding has; if 0, there is no other
	memory   uint64     // how many bytes a value takes
	asks     bool       // it encodes itself, or a field or an element does

	key, elem *part
	entry     int // of a map: how many bytes the shortest entry has
	spare     int // how many of them neither the key nor the element has at its shortest
	fields    []fieldPart
	steps     []fieldPart // the fields, but neighbours that are copied as they are make one
}

// size is the size of a value.
func (p *part) size() uintptr { return uintptr(p.memory) }

// compact reports whether values take no more memory than bytes of their shortest encoding.
func (p *part) compact() bool { return p.memory <= uint64(p.shortest) }

// fieldPart is a field of a struct.
type fieldPart struct {
	*part
	index  int
	offset uintptr
	base   int // the number of the base to which its handles are relative
}

// planner makes the parts of a type.
type planner struct {
	reads bool // values are read, and never written
	wide  bool
	bases int // how many bases there are
	known map[knownPart]*part
	later []reference
}

// knownPart is a type, and whether its values are numbers in an array or a slice.
type knownPart struct {
	typ    reflect.Type
	packed bool
}

// reference is a field of a part that will have another part. The planner fills it when the first part is
// complete, since types may be recursive.
type reference struct {
	target **part // the field
	typ    reflect.Type
	owner  *part // the part that has the field
	path   string
}

// errCostly means that a type takes too much memory for few bytes of input.
type errCostly struct{ error }

// partsOf returns the part for t, and how many bases there are. It returns an error if t cannot be written
// without loss, or read if reads is true.
func partsOf(t reflect.Type, reads, wide bool) (top *part, bases int, err error) {
	pl := planner{reads: reads, wide: wide, bases: 1, known: map[knownPart]*part{}}
	top, err = pl.part(t, "", false)
	for err == nil && len(pl.later) > 0 {
		r := pl.later[0]
		pl.later = pl.later[1:]
		if *r.target, err = pl.part(r.typ, r.path, r.owner.kind == reflect.Slice); err == nil {
			err = r.check(wide)
		}
	}
	return top, pl.bases, err
}

// lengthBytes returns how many bytes the shortest length has.
func (pl *planner) lengthBytes() uint64 {
	if pl.wide {
		return wideLength
	}
	return 1
}

// part returns the part for t. path is the field in which it was found, or "" for the whole value. many says
// that values of t lie side by side in an array or a slice.
func (pl *planner) part(t reflect.Type, path string, packed bool) (*part, error) {
	known := knownPart{t, packed && numberOf(t) != noNumber}
	if p := pl.known[known]; p != nil {
		return p, nil
	}
	p := &part{typ: t, kind: t.Kind(), memory: uint64(t.Size())}
	var err error
	if p.marshals, err = encodesItself(t, pl.reads); err != nil {
		return nil, fmt.Errorf("%stype %v %w", prefix(path), t, err)
	}
	var shortest uint64
	if p.marshals {
		p.appends = appendsItself(t)
		shortest, p.asks = max(pl.lengthBytes(), ceilDiv(p.memory, memoryFactor)), true
	} else if shortest, err = pl.fill(p, path, packed); err != nil {
		return nil, err
	}
	if p.fixed != nil {
		shortest = uint64(p.fixed.size)
	}
	if shortest > MaxValue {
		return nil, fmt.Errorf("%s%w", prefix(path), errTooLong)
	}
	p.shortest = int(shortest)
	pl.known[known] = p
	return p, nil
}

// fill completes p by the parts of its type, and returns the length of its shortest
// encoding.
func (pl *planner) fill(p *part, path string, packed bool) (shortest uint64, err error) {
	t := p.typ
	refer := func(target **part, t reflect.Type, path string) {
		pl.later = append(pl.later, reference{target, t, p, path})
	}
	p.number = numberOf(t)
	machine := p.kind == reflect.Int || p.kind == reflect.Uint // its size is that of the platform
	if p.number != noNumber && !machine && (pl.wide || packed && p.number != related) {
		p.number = noNumber
	}
	switch {
	case p.number != noNumber && pl.wide:
		return 8, nil
	case p.number != noNumber:
		return 1, nil
	}
	if p.fixed = fixedOf(t); p.fixed != nil {
		return uint64(p.fixed.size), nil
	}
	switch p.kind {
	case reflect.String:
		return pl.lengthBytes(), nil
	case reflect.Pointer:
		refer(&p.elem, t.Elem(), path)
		return 1, nil
	case reflect.Slice:
		refer(&p.elem, t.Elem(), path+"[]")
		return pl.lengthBytes(), nil
	case reflect.Map:
		refer(&p.key, t.Key(), path+"[key]")
		refer(&p.elem, t.Elem(), path+"[]")
		return pl.lengthBytes(), nil
	case reflect.Array:
		if p.elem, err = pl.part(t.Elem(), path+"[]", true); err != nil {
			return 0, err
		}
		if p.elem.fixed != nil {
			p.fixed = p.elem.fixed.times(t.Len(), t.Elem().Size())
		}
		p.asks = p.elem.asks
		return uint64(t.Len()) * uint64(p.elem.shortest), nil
	case reflect.Struct:
		return pl.fillFields(p, path)
	}
	end := wayOut
	if path == "" {
		end = "" // T itself is no field
	}
	return 0, fmt.Errorf("%s%v values cannot be written%s", prefix(path), p.kind, end)
}

// fillFields completes p, a struct, by its fields, and returns the length of its shortest encoding.
func (pl *planner) fillFields(p *part, path string) (shortest uint64, err error) {
	if path != "" {
		path += "."
	}
	omits := false
	for i := range p.typ.NumField() {
		f := p.typ.Field(i)
		if f.Name == "_" || leftOut(f) {
			omits = omits || f.Name != "_"
			continue // no program can read it, or shall
		}
		// The fields of an embedded struct are promoted even if its own name is unexported.
		if promoted := f.Anonymous && f.Type.Kind() == reflect.Struct; !f.IsExported() && !promoted {
			return 0, fmt.Errorf("field %s%s is unexported, and %v has no MarshalBinary%s", path, f.Name, p.typ, wayOut)
		}
		field, err := pl.part(f.Type, path+f.Name, false)
		if err != nil {
			return 0, err
		}
		p.fields = append(p.fields, fieldPart{field, i, f.Offset, pl.bases})
		pl.bases++
		p.asks = p.asks || field.asks
		shortest += uint64(field.shortest)
	}
	if !omits { // or a key of a map would not be read back to see whether it is lost
		p.fixed = fixedStruct(p.typ, p.fields)
	}
	if p.fixed == nil {
		p.steps = joined(p.fields)
	}
	return shortest, nil
}

// joined returns the steps of a copy. Each is a field, but fields are one step if they are copied as they are and
// lie side by side in memory.
func joined(fields []fieldPart) (steps []fieldPart) {
	for _, f := range fields {
		if f.fixed != nil && f.fixed.kind == raw && len(steps) > 0 {
			last := &steps[len(steps)-1]
			if last.fixed != nil && last.fixed.kind == raw && last.offset+uintptr(last.shortest) == f.offset {
				size := last.shortest + f.shortest
				last.part = &part{fixed: &fixed{kind: raw, size: size}, shortest: size}
				continue
			}
		}
		steps = append(steps, f)
	}
	return steps
}

// check returns an error if the referenced part may not stand in this place.
func (r *reference) check(wide bool) error {
	p := r.owner
	switch {
	case p.kind != reflect.Map:
		return r.afford(p.elem.memory, uint64(p.elem.shortest))
	case p.elem == nil:
		if p.key.points() {
			return fmt.Errorf("%sa pointer within a key is another one in the copy", prefix(r.path))
		}
		return nil
	}
	head := uint64(mapHead - 1)
	if wide {
		head = mapHead - wideLength
	}
	// one is for a map of one entry, and many for each entry of a larger map.
	single, perEntry := mapMemory(p.key, p.elem)
	p.entry = p.key.shortest + p.elem.shortest
	shortest := func(factor uint64) int {
		return max(int(ceilDiv(single, factor))-int(head), int(ceilDiv(perEntry, factor)))
	}
	if (p.key.asks || p.elem.asks) && shortest(memoryFactor) > p.entry {
		if !wide {
			return errCostly{errShort} // entries of variable length could be too short
		}
		p.spare = shortest(spareFactor) - p.entry
		p.entry += p.spare
	}
	if err := r.afford(single, head+uint64(p.entry)); err != nil {
		return err
	}
	return r.afford(perEntry, uint64(p.entry))
}

// afford returns an error if so few bytes of a snapshot could demand so much memory.
func (r *reference) afford(memory, shortest uint64) error {
	if memory > memoryFactor*shortest {
		return errCostly{fmt.Errorf("%s%v may need %d bytes of memory where a snapshot has %d; the limit is %d times as many", prefix(r.path), r.typ, memory, shortest, memoryFactor)}
	}
	return nil
}

// mapMemory returns how many bytes a map of one entry takes, with what the decoder needs to read it, and how many
// bytes an entry takes in a map of many.
func mapMemory(key, elem *part) (single, perEntry uint64) {
	inTable, elsewhere := inMap(key.memory)
	inElem, outElem := inMap(elem.memory)
	inTable, elsewhere = inTable+inElem+1, elsewhere+outElem
	single = mapBytes + smallMap*inTable + elsewhere + key.memory + elem.memory
	if key.shortest == 0 {
		return single, 0 // there is only one such key
	}
	return single, mapRoom*inTable + elsewhere
}

// inMap returns how many bytes a key or an element of this size takes in a map's table of entries, and how many
// elsewhere. The first number includes what alignment may cost.
func inMap(memory uint64) (inTable, elsewhere uint64) {
	if memory > 128 {
		return 8, memory
	}
	return (memory + 7) &^ 7, 0
}

func ceilDiv(n, divisor uint64) uint64 { return (n + divisor - 1) / divisor }

// points reports whether values of p's type contain a pointer, directly or in fields and
// elements.
func (p *part) points() bool {
	for _, f := range p.fields {
		if f.points() {
			return true
		}
	}
	return p.kind == reflect.Pointer || p.kind == reflect.Array && p.elem != nil && p.elem.points()
}

// hasHandle reports whether p, or a part of it, is a handle whose generation is relative to others.
func (p *part) hasHandle(seen map[*part]bool) bool {
	if p == nil || seen[p] {
		return false
	}
	seen[p] = true
	for _, f := range p.fields {
		if f.hasHandle(seen) {
			return true
		}
	}
	return p.number == related || p.key.hasHandle(seen) || p.elem.hasHandle(seen)
}

// wayOut is the end of a message about a field that cannot be written.
const wayOut = "; the tag `coatcheck:\"-\"` leaves a field out"

// prefix returns the beginning of a message about path.
func prefix(path string) string {
	if path == "" {
		return ""
	}
	return "field " + path + ": "
}
