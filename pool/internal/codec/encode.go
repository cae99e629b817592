package codec

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"coatcheck/shard/slots"
)

// How values are written by their parts (parts.go), and what both directions share: the bases of handles.

var (
	errDeep = fmt.Errorf("it is nested deeper than %d pointers, slices and maps, or leads back to itself", maxDepth)

	errSparse = fmt.Errorf("it takes more than %d times as much memory as its encoding", memoryFactor)
	errLost   = errors.New("a key of a map is another one when it is read back")
)

// partsCodec is the Codec of types that are written by their parts.
type partsCodec struct {
	top  *part
	wide bool

	// bases has a base for each field. It is nil if there are no handles.
	bases []base
}

func (c partsCodec) Append(dst []byte, v unsafe.Pointer) ([]byte, error) {
	e := partsEncoder{dst: dst, limit: len(dst) + MaxValue, wide: c.wide, related: relations{bases: c.bases}}
	err := e.put(c.top, v)
	return e.dst, err
}

func (c partsCodec) Decode(src []byte, v unsafe.Pointer) (tail []byte, err error) {
	defer caught(&err)
	return c.top.decode(src, v, c.wide, relations{bases: c.bases})
}

// decode reads the value that v points to, which is zero, from the beginning of src. It returns the rest of src.
func (p *part) decode(src []byte, v unsafe.Pointer, wide bool, r relations) (tail []byte, err error) {
	d := partsDecoder{src: src, wide: wide, related: r}
	if err = d.claim(1, p.shortest); err == nil {
		err = d.get(p, v)
	}
	return d.src, err
}

// relations tells what the generations of handles are relative to.
type relations struct {
	bases []base
	field int // the number of the base for the next handle
	maps  int // how many maps enclose it. In a map no base changes, since its entries are sorted after they were encoded
}

// base is the first handle of a field.
type base struct {
	generation, index uint32

	// equal says that the generation of the last handle was nearer to that of the base than to its counterpart in
	// the handle's slot: all slots of the handle's pool begin with one generation.
	equal bool
}

// relative returns the number to which the generation of a handle is relative: that of the base if equal is set,
// or its counterpart in the handle's slot.
func (b base) relative(index uint32, equal bool) uint32 {
	if equal || b.generation == 0 {
		return b.generation
	}
	return slots.Counterpart(index, b.index, b.generation)
}

// base returns the number to which the generation of the next handle is relative, whose index this is.
func (r *relations) base(index uint32) uint32 {
	b := r.bases[r.field]
	return b.relative(index, b.equal)
}

// saw notes a handle: the first becomes the base of its field.
func (r *relations) saw(index, generation uint32) {
	b := &r.bases[r.field]
	switch {
	case r.maps > 0:
	case b.generation == 0:
		b.generation, b.index = generation, index
	default:
		b.equal = distance(generation, b.relative(index, true)) < distance(generation, b.relative(index, false))
	}
}

// sliceHeader is a slice in memory.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}

// value returns the value that v points to, which is of p's type.
func (p *part) value(v unsafe.Pointer) reflect.Value { return reflect.NewAt(p.typ, v).Elem() }

// partsEncoder writes one value.
type partsEncoder struct {
	dst     []byte
	limit   int // the greatest length of dst
	spare   int // how many bytes of content the entries lack that are being written, or less than 0 if they have more
	depth   int
	wide    bool
	related relations
}

// content notes n bytes of content, for the account that partsDecoder keeps.
func (e *partsEncoder) content(n int) { e.spare -= n }

// put appends the encoding of the value that v points to.
func (e *partsEncoder) put(p *part, v unsafe.Pointer) error {
	if p.marshals {
		return e.marshal(p, v)
	}
	if err := e.room(1, max(p.shortest, mostBytes+wideLength)); err != nil {
		return err
	}
	if p.fixed != nil {
		e.dst = p.fixed.append(e.dst, v)
		return nil
	}
	if p.number != noNumber {
		e.number(p, v)
		return nil
	}
	switch p.kind {
	case reflect.String:
		s := *(*string)(v)
		if err := e.room(len(s), 1); err != nil {
			return err
		}
		e.length(len(s))
		e.content(len(s))
		e.dst = append(e.dst, s...)
	case reflect.Struct:
		field := e.related.field
		for i := range p.steps {
			f := &p.steps[i]
			e.related.field = f.base
			if err := e.put(f.part, unsafe.Add(v, f.offset)); err != nil {
				return err
			}
		}
		e.related.field = field
	case reflect.Array:
		return e.elements(p, v, p.typ.Len())
	default:
		return e.container(p, v)
	}
	return nil
}

// number appends a number.
func (e *partsEncoder) number(p *part, v unsafe.Pointer) {
	switch {
	case p.number == related:
		h := *(*uint64)(v)
		if h == 0 {
			e.dst = append(e.dst, 0)
			return
		}
		generation := uint32(h >> 32)
		e.dst = appendNumber(e.dst, uint64(uint32(h))+1)
		e.dst = appendNumber(e.dst, uint64(distance(generation, e.related.base(uint32(h)))))
		e.related.saw(uint32(h), generation)
	case e.wide && p.number == signed:
		e.dst = order.AppendUint64(e.dst, uint64(*(*int)(v)))
	case e.wide:
		e.dst = order.AppendUint64(e.dst, uint64(*(*uint)(v)))
	default:
		e.dst = appendNumber(e.dst, loadNumber(p.kind, v))
	}
}

// own appends a value that encodes itself.
func (e *partsEncoder) marshal(p *part, v unsafe.Pointer) (err error) {
	start := len(e.dst)
	e.dst, err = appendOwn(e.dst, p.typ, v, p.appends)
	if err != nil {
		return err
	}
	n := len(e.dst) - start - 1
	if err := e.room(0, 1); err != nil {
		return err
	}
	if wideLength+n < p.shortest {
		return fmt.Errorf("%w: %v: %w", ErrType, p.typ, errSparse)
	}
	e.content(wideLength + n - p.shortest)
	var length [mostBytes]byte
	k := wideLength
	if e.wide {
		order.PutUint32(length[:], uint32(n))
	} else {
		k = len(appendLong(length[:0], uint64(n), p.shortest-n))
	}
	e.dst = append(e.dst, length[:k-1]...) // room
	copy(e.dst[start+k:], e.dst[start+1:][:n])
	copy(e.dst[start:], length[:k])
	return nil
}

// container appends a pointer, a slice or a map, and its contents.
func (e *partsEncoder) container(p *part, v unsafe.Pointer) error {
	if e.depth++; e.depth > maxDepth {
		return fmt.Errorf("%w: %w", ErrType, errDeep)
	}
	defer func() { e.depth-- }()
	switch p.kind {
	case reflect.Pointer:
		pointee := *(*unsafe.Pointer)(v)
		if pointee == nil {
			e.dst = append(e.dst, 0)
			return nil
		}
		e.dst = append(e.dst, 1)
		return e.put(p.elem, pointee)
	case reflect.Slice:
		s := *(*sliceHeader)(v)
		if s.data == nil {
			e.length(0)
			return nil
		}
		if err := e.room(s.len, max(1, p.elem.shortest)); err != nil {
			return err
		}
		e.length(s.len + 1)
		if p.elem.compact() {
			e.content(s.len * p.elem.shortest)
		}
		return e.elements(p, s.data, s.len)
	}
	m := p.value(v)
	if m.IsNil() {
		e.length(0)
		return nil
	}
	if err := e.room(m.Len(), p.entry); err != nil {
		return err
	}
	start := len(e.dst)
	e.length(m.Len() + 1)
	e.dst = append(e.dst, make([]byte, mapHead-(len(e.dst)-start))...)
	e.related.maps++
	err := e.entries(p, m)
	e.related.maps--
	return err
}

// entries appends the entries of a map: keys and elements. It sorts them by their bytes, so that equal maps have
// one encoding.
func (e *partsEncoder) entries(p *part, m reflect.Value) error {
	if m.Len() == 0 {
		return nil
	}
	var spans [][2]int // of the entries
	key, elem := reflect.New(p.key.typ), reflect.New(p.elem.typ)
	check := p.key.marshals || p.key.fixed == nil && p.key.number == noNumber && p.key.kind != reflect.String
	for entry := m.MapRange(); entry.Next(); {
		key.Elem().SetIterKey(entry)
		elem.Elem().SetIterValue(entry)
		start, outer := len(e.dst), e.spare
		e.spare += p.spare
		if err := e.put(p.key, key.UnsafePointer()); err != nil {
			return err
		}
		if check && !p.key.survives(key.Elem(), e.dst[start:], e.wide, e.related) {
			return fmt.Errorf("%w: %v: %w", ErrType, p.key.typ, errLost)
		}
		if err := e.put(p.elem, elem.UnsafePointer()); err != nil {
			return err
		}
		if e.spare > outer {
			return fmt.Errorf("%w: %v: %w", ErrType, p.typ, errSparse)
		}
		spans = append(spans, [2]int{start, len(e.dst)})
	}
	if len(spans) > 1 {
		slices.SortFunc(spans, func(a, b [2]int) int { return bytes.Compare(e.dst[a[0]:a[1]], e.dst[b[0]:b[1]]) })
		sorted := make([]byte, 0, spanned(spans))
		for _, s := range spans {
			sorted = append(sorted, e.dst[s[0]:s[1]]...)
		}
		copy(e.dst[len(e.dst)-len(sorted):], sorted)
	}
	return nil
}

// spanned returns how many bytes the spans have together.
func spanned(spans [][2]int) (n int) {
	for _, s := range spans {
		n += s[1] - s[0]
	}
	return n
}

// survives reports whether a key equals itself when it is read back. If it does not, as where UnmarshalBinary
// makes a new time.Location, the map of the copy would not find it, and two keys could have one encoding. It
// accepts keys with a NaN, which no map finds anyway.
func (p *part) survives(key reflect.Value, encoding []byte, wide bool, r relations) (ok bool) {
	if !key.Equal(key) {
		return true
	}
	decoded := reflect.New(p.typ)
	err := func() (err error) {
		defer caught(&err)
		_, err = p.decode(encoding, decoded.UnsafePointer(), wide, r)
		return err
	}()
	return err == nil && key.Equal(decoded.Elem())
}

// elements appends n elements of an array or a slice. v points to the first.
func (e *partsEncoder) elements(p *part, v unsafe.Pointer, n int) error {
	if n == 0 || p.elem.shortest == 0 {
		return nil
	}
	size := p.elem.size()
	if p.elem.fixed != nil { // a slice: such an array is of fixed size itself
		e.dst = p.elem.fixed.times(n, size).append(e.dst, v)
		return nil
	}
	for i := range n {
		if err := e.put(p.elem, unsafe.Add(v, uintptr(i)*size)); err != nil {
			return err
		}
	}
	return nil
}

// room returns an error unless n times size bytes, and a length, fit below the limit.
func (e *partsEncoder) room(n, size int) error {
	if left := e.limit - len(e.dst) - mapHead; left < 0 || size > 0 && n > left/size {
		return errTooLong
	}
	return nil
}

// length appends a length.
func (e *partsEncoder) length(n int) {
	if e.wide {
		e.dst = order.AppendUint32(e.dst, uint32(n))
		return
	}
	e.dst = appendNumber(e.dst, uint64(n))
}
