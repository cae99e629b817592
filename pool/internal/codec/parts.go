package codec

import (
	"fmt"
	"reflect"
	"strings"
)

// Values that are neither of fixed size nor encode themselves are written by their parts.
// Numbers are little-endian:
//
//	a type with MarshalBinary   length (4) · its encoding
//	a type of fixed size        as by encoding/binary
//	int, uint                   8 bytes
//	string                      length (4) · bytes
//	slice                       0 for nil, or 1 + length (4) · elements
//	map                         the same · keys and elements in turn
//	pointer                     0 for nil, or 1 (1) · what it points to
//	array, struct               elements, or fields without those named _ or left out
//
// The encoding does not name the types: the snapshot's header describes T, and a snapshot
// of another type is refused.
//
// Input may be forged. A value of n bytes in a snapshot can make ReadFrom allocate at
// most memoryFactor·n bytes. Three rules ensure that. For each type that is allocated, the
// memory of a value is at most that multiple of its shortest encoding; partsOf refuses
// other types. The shortest encoding of a type that encodes itself is chosen so that this is
// true: a value whose own encoding is shorter is refused, when it is written, and when it is
// read. And a decoder allocates only for what it has claimed: bytes of the input
// that no other part can claim (see partsDecoder).

const (
	// memoryFactor is how many bytes of memory a byte of input may cost. The most
	// expensive types are maps with one entry, which have room for eight.
	memoryFactor = 64

	// A map with one entry has room for smallMap, and a larger one for up to mapRoom times as
	// many entries as it has, with a byte for each. mapBytes are the map itself. What the
	// allocator rounds up is in these numbers.
	smallMap = 9
	mapRoom  = 3
	mapBytes = 64

	// maxDepth is how deeply pointers, slices and maps may be nested. A level takes some
	// 1 KiB of stack. A cycle ends here as well.
	maxDepth = 1000

	lengthBytes = 4
)

// part describes how values of a type are written and read.
type part struct {
	typ    reflect.Type
	own    bool   // by MarshalBinary
	fixed  *fixed // or as numbers
	least  int    // bytes of the shortest encoding; if 0, there is only that one
	memory uint64 // bytes of a value
	asks   bool   // it is own, or has such fields or elements

	key, elem *part
	entry     int // of a map: bytes of the shortest entry
	fields    []fieldPart
}

type fieldPart struct {
	*part
	index int
}

// planner makes the parts of a type.
type planner struct {
	reads bool // values are never written
	known map[reflect.Type]*part
	later []reference
}

// reference is the place of a part within another one. It is filled after that one is
// complete, since types may be recursive.
type reference struct {
	to   **part
	typ  reflect.Type
	from *part
	path string
}

// partsOf returns the part for t, or an error if t cannot be written without loss. If reads is true,
// it is only read.
func partsOf(t reflect.Type, reads bool) (*part, error) {
	pl := planner{reads: reads, known: map[reflect.Type]*part{}}
	top, err := pl.part(t, "")
	for err == nil && len(pl.later) > 0 {
		r := pl.later[0]
		pl.later = pl.later[1:]
		if *r.to, err = pl.part(r.typ, r.path); err == nil {
			err = r.check()
		}
	}
	return top, err
}

// part returns the part for t, found at path: "" for the whole value, else a field.
func (pl *planner) part(t reflect.Type, path string) (*part, error) {
	if p := pl.known[t]; p != nil {
		return p, nil
	}
	p := &part{typ: t, memory: uint64(t.Size())}
	var err error
	if p.own, err = encodesItself(t, pl.reads); err != nil {
		return nil, fmt.Errorf("%stype %v %w", at(path), t, err)
	}
	var least uint64
	if p.own {
		least, p.asks = max(lengthBytes, ceilDiv(p.memory, memoryFactor)), true
	} else if p.fixed = fixedOf(t); p.fixed != nil {
		least = uint64(p.fixed.size)
	} else if least, err = pl.fill(p, path); err != nil {
		return nil, err
	}
	if least > MaxValue {
		return nil, fmt.Errorf("%s%w", at(path), errTooLong)
	}
	p.least = int(least)
	pl.known[t] = p
	return p, nil
}

// fill completes p by the parts of its type, and returns the length of its shortest
// encoding.
func (pl *planner) fill(p *part, path string) (least uint64, err error) {
	t := p.typ
	refer := func(to **part, t reflect.Type, path string) {
		pl.later = append(pl.later, reference{to, t, p, path})
	}
	switch t.Kind() {
	case reflect.Int, reflect.Uint:
		return 8, nil
	case reflect.String:
		return lengthBytes, nil
	case reflect.Pointer:
		refer(&p.elem, t.Elem(), path)
		return 1, nil
	case reflect.Slice:
		refer(&p.elem, t.Elem(), path+"[]")
		return lengthBytes, nil
	case reflect.Map:
		refer(&p.key, t.Key(), path+"[key]")
		refer(&p.elem, t.Elem(), path+"[]")
		return lengthBytes, nil
	case reflect.Array:
		if p.elem, err = pl.part(t.Elem(), path+"[]"); err != nil {
			return 0, err
		}
		p.asks = p.elem.asks
		return uint64(t.Len()) * uint64(p.elem.least), nil
	case reflect.Struct:
		return pl.fillFields(p, path)
	}
	end := wayOut
	if path == "" {
		end = "" // T itself is no field
	}
	return 0, fmt.Errorf("%s%v values cannot be written%s", at(path), t.Kind(), end)
}

func (pl *planner) fillFields(p *part, path string) (least uint64, err error) {
	if path != "" {
		path += "."
	}
	for i := range p.typ.NumField() {
		f := p.typ.Field(i)
		if f.Name == "_" || leftOut(f) {
			continue // no program can read it, or shall
		}
		if !f.IsExported() {
			return 0, fmt.Errorf("field %s%s is unexported, and %v has no MarshalBinary%s", path, f.Name, p.typ, wayOut)
		}
		field, err := pl.part(f.Type, path+f.Name)
		if err != nil {
			return 0, err
		}
		p.fields = append(p.fields, fieldPart{field, i})
		p.asks = p.asks || field.asks
		least += uint64(field.least)
	}
	return least, nil
}

// check returns an error if the referenced part may not stand in this place.
func (r *reference) check() error {
	p := r.from
	switch {
	case p.typ.Kind() != reflect.Map:
		return r.afford(p.elem.memory, uint64(p.elem.least))
	case p.elem == nil:
		if p.key.points() {
			return fmt.Errorf("%sa pointer within a key is another one in the copy", at(r.path))
		}
		return nil
	}
	// A map of one entry, and one of many, by the entry.
	one, many := mapMemory(p.key, p.elem)
	p.entry = p.key.least + p.elem.least
	if p.key.asks || p.elem.asks {
		need := max(ceilDiv(one, memoryFactor)-lengthBytes, ceilDiv(many, memoryFactor))
		p.entry = max(p.entry, int(need))
	}
	if err := r.afford(one, lengthBytes+uint64(p.entry)); err != nil {
		return err
	}
	return r.afford(many, uint64(p.entry))
}

// afford returns an error if that is too much memory for so few bytes of a snapshot.
func (r *reference) afford(memory, least uint64) error {
	if memory > memoryFactor*least {
		return fmt.Errorf("%s%v may need %d bytes of memory where a snapshot has %d; the limit is %d times as many", at(r.path), r.typ, memory, least, memoryFactor)
	}
	return nil
}

// mapMemory returns how many bytes a map of one entry takes, with what a decoder takes to read it,
// and how many an entry of a map of many.
func mapMemory(key, elem *part) (one, many uint64) {
	in, out := inMap(key.memory)
	inElem, outElem := inMap(elem.memory)
	in, out = in+inElem+1, out+outElem
	one = mapBytes + smallMap*in + out + key.memory + elem.memory
	if key.least == 0 {
		return one, 0 // there is only one such key
	}
	return one, mapRoom*in + out
}

// inMap returns how many bytes a key, or an element, of this size takes within a table of entries,
// with those that alignment may cost, and outside.
func inMap(memory uint64) (in, out uint64) {
	if memory > 128 {
		return 8, memory
	}
	return (memory + 7) &^ 7, 0
}

func ceilDiv(n, by uint64) uint64 { return (n + by - 1) / by }

// points reports whether values of p's type contain a pointer, directly or in fields and
// elements.
func (p *part) points() bool {
	for _, f := range p.fields {
		if f.points() {
			return true
		}
	}
	return p.typ.Kind() == reflect.Pointer || p.typ.Kind() == reflect.Array && p.elem != nil && p.elem.points()
}

// describe returns the structure of p's type. It has no names of types, or only those of types that
// encode themselves. A type that is being described, or has been, is a number.
func (p *part) describe(seen map[*part]int, names bool) string {
	switch t := p.typ; {
	case p.own && names:
		return t.String()
	case p.own:
		return "binary"
	case p.fixed != nil:
		return describe(t)
	case t.Kind() == reflect.Struct || p.elem != nil && t.Name() != "":
		if n, ok := seen[p]; ok {
			return fmt.Sprintf("#%d", n)
		}
		seen[p] = len(seen)
	}
	switch t := p.typ; t.Kind() {
	case reflect.Pointer:
		return "*" + p.elem.describe(seen, names)
	case reflect.Slice:
		return "[]" + p.elem.describe(seen, names)
	case reflect.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), p.elem.describe(seen, names))
	case reflect.Map:
		return "map[" + p.key.describe(seen, names) + "]" + p.elem.describe(seen, names)
	case reflect.Struct:
		fields := make([]string, len(p.fields))
		for i, f := range p.fields {
			fields[i] = t.Field(f.index).Name + " " + f.describe(seen, names)
		}
		return "struct{" + strings.Join(fields, "; ") + "}"
	}
	return p.typ.Kind().String()
}

// wayOut is the end of a message about a field that cannot be written.
const wayOut = "; the tag `coatcheck:\"-\"` leaves a field out"

// at returns the beginning of a message about path.
func at(path string) string {
	if path == "" {
		return ""
	}
	return "field " + path + ": "
}
