package codec

import (
	"encoding"
	"errors"
	"reflect"
	"slices"
	"unsafe"
)

// How values are read that were written by their parts (parts.go). The input may be hostile: see partsDecoder.

var (
	errFlag  = errors.New("a pointer is marked neither nil nor set")
	errFill  = errors.New("the length of a map is not filled up")
	errRange = errors.New("a number is beyond the range of its type on this platform")
	errTwice = errors.New("a map has a key twice")
)

// partsDecoder reads one value.
//
// Before it reads a part, it claims the bytes of the shortest encoding of that part. For the elements of a slice
// it claims all of them at once, when it knows their number and before it allocates the slice. Claims never
// exceed the input that is left, and no two parts claim a byte at the same time. If each part could count on all
// that is left, nested slices could take as much memory as the square of the input.
//
// The shortest entry of a map may be longer than its key and its element at their shortest. What is claimed beyond
// these is spare: it pays for the map, and stays claimed until content of the key or of the element takes it, which
// are bytes that pay for a byte of memory or less. An entry without so much content is refused. Parts of an entry
// that pay for more memory claim other bytes. In nested maps, content takes the inner map's spare bytes first, and
// each once. So a byte pays for the place of a value, for what one pointer, slice or map refers to, or for content and
// an entry of one map (spareFactor).
type partsDecoder struct {
	src     []byte
	claimed int // how many bytes of src are claimed
	spare   int // how many of the claimed bytes are only for content
	depth   int
	wide    bool
	related relations
}

// claim claims n times size bytes.
func (d *partsDecoder) claim(n, size int) error {
	if size > 0 && n > (len(d.src)-d.claimed)/size {
		return errShort
	}
	d.claimed += n * size
	return nil
}

// claimContent claims n times size bytes for content. It takes as many of the spare bytes as there are.
func (d *partsDecoder) claimContent(n, size int) error {
	d.claimed -= d.spare
	if err := d.claim(n, size); err != nil {
		return err
	}
	d.spare -= min(d.spare, n*size)
	d.claimed += d.spare
	return nil
}

// take returns the next n bytes, which have been claimed.
func (d *partsDecoder) take(n int) []byte {
	b := d.src[:n:n]
	d.src = d.src[n:]
	d.claimed -= n
	return b
}

// number reads a number. One byte has been claimed for it.
func (d *partsDecoder) number() (uint64, error) {
	x, k := cutNumber(d.src)
	if k == 0 {
		return 0, errShort
	}
	if err := d.claim(1, k-1); err != nil {
		return 0, err
	}
	d.take(k)
	return x, nil
}

// length reads a length. The bytes of the shortest length have been claimed.
func (d *partsDecoder) length() (int, error) {
	if d.wide {
		return int(min(order.Uint32(d.take(wideLength)), MaxValue+1)), nil
	}
	x, err := d.number()
	return int(min(x, MaxValue+1)), err
}

// bytes reads a length, and that many bytes. claimed bytes have been claimed for both.
func (d *partsDecoder) bytes(claimed int) ([]byte, error) {
	if d.wide {
		n, _ := d.length()
		return d.content(n, claimed-wideLength)
	}
	x, k := cutNumber(d.src)
	if k == 0 {
		return nil, errShort
	}
	d.take(k)
	return d.content(int(min(x, MaxValue+1)), claimed-k)
}

// content reads n bytes, of which so many have been claimed: less than 0 if the length took more than its shortest.
func (d *partsDecoder) content(n, claimed int) ([]byte, error) {
	if n < claimed {
		return nil, errSparse
	}
	if err := d.claimContent(1, n-claimed); err != nil {
		return nil, err
	}
	return d.take(n), nil
}

// get reads the value that v points to, which is zero. Its shortest encoding has been claimed.
func (d *partsDecoder) get(p *part, v unsafe.Pointer) error {
	switch {
	case p.marshals:
		b, err := d.bytes(p.shortest)
		if err != nil {
			return err
		}
		return reflect.NewAt(p.typ, v).Interface().(encoding.BinaryUnmarshaler).UnmarshalBinary(b)
	case p.fixed != nil:
		p.fixed.decode(d.take(p.shortest), v)
		return nil
	case p.number != noNumber:
		return d.store(p, v)
	}
	switch p.kind {
	case reflect.String:
		b, err := d.bytes(p.shortest)
		if err != nil {
			return err
		}
		*(*string)(v) = string(b)
	case reflect.Struct:
		field := d.related.field
		for i := range p.steps {
			f := &p.steps[i]
			d.related.field = f.base
			if err := d.get(f.part, unsafe.Add(v, f.offset)); err != nil {
				return err
			}
		}
		d.related.field = field
	case reflect.Array:
		return d.elements(p, v, p.typ.Len())
	default:
		return d.container(p, v)
	}
	return nil
}

// store reads a number, and stores it where v points.
func (d *partsDecoder) store(p *part, v unsafe.Pointer) error {
	if d.wide {
		x := order.Uint64(d.take(8))
		if p.number == signed {
			x = zigzag(int64(x))
		}
		if !storeNumber(p.kind, v, x) {
			return errRange
		}
		return nil
	}
	x, err := d.number()
	if err != nil {
		return err
	}
	if p.number != related {
		if !storeNumber(p.kind, v, x) {
			return errRange
		}
		return nil
	}
	if x == 0 {
		return nil
	}
	if err := d.claim(1, 1); err != nil {
		return err
	}
	a, err := d.number()
	if err != nil {
		return err
	}
	if x > 1<<32 || a > 1<<32-1 {
		return errRange
	}
	index := uint32(x - 1)
	generation := atDistance(uint32(a), d.related.base(index))
	*(*uint64)(v) = uint64(generation)<<32 | uint64(index)
	d.related.saw(index, generation)
	return nil
}

// container reads a pointer, a slice or a map, and its contents.
func (d *partsDecoder) container(p *part, v unsafe.Pointer) error {
	if d.depth++; d.depth > maxDepth {
		return errDeep
	}
	defer func() { d.depth-- }()
	if p.kind == reflect.Pointer {
		return d.pointee(p, v)
	}
	size := len(d.src)
	n, err := d.length()
	if n--; n < 0 || err != nil {
		return err
	}
	if p.kind == reflect.Map {
		fill := mapHead - (size - len(d.src))
		if fill <= 0 {
			return errFill // no length takes so many bytes
		}
		if err := d.claim(1, fill); err != nil {
			return err
		}
		if slices.Max(d.take(fill)) != 0 {
			return errFill
		}
		d.related.maps++
		err := d.entries(p, p.value(v), n)
		d.related.maps--
		return err
	}
	if p.elem.compact() {
		err = d.claimContent(n, p.elem.shortest)
	} else {
		err = d.claim(n, p.elem.shortest)
	}
	if err != nil {
		return err
	}
	s := p.value(v) // reflect.MakeSlice would allocate a slice's header besides, for which no byte pays
	s.Grow(n)
	s.SetLen(n)
	if n == 0 {
		(*sliceHeader)(v).data = unsafe.Pointer(new(struct{}))
	}
	return d.elements(p, s.UnsafePointer(), n)
}

// pointee reads a pointer, and what it points to.
func (d *partsDecoder) pointee(p *part, v unsafe.Pointer) error {
	switch d.take(1)[0] {
	case 0:
		return nil
	case 1:
		if err := d.claim(1, p.elem.shortest); err != nil {
			return err
		}
		pointee := reflect.New(p.elem.typ)
		*(*unsafe.Pointer)(v) = pointee.UnsafePointer()
		return d.get(p.elem, pointee.UnsafePointer())
	}
	return errFlag
}

// entries reads the n entries of a map.
func (d *partsDecoder) entries(p *part, m reflect.Value, n int) error {
	if n > 1 && p.key.shortest == 0 {
		return errTwice // there is only one such key
	}
	if err := d.claim(n, p.entry); err != nil {
		return err
	}
	m.Set(reflect.MakeMapWithSize(p.typ, n))
	if n == 0 {
		return nil
	}
	key, elem := reflect.New(p.key.typ), reflect.New(p.elem.typ)
	for i := range n {
		key.Elem().SetZero()
		elem.Elem().SetZero()
		outer := d.spare
		d.spare += p.spare
		if err := d.get(p.key, key.UnsafePointer()); err != nil {
			return err
		}
		if err := d.get(p.elem, elem.UnsafePointer()); err != nil {
			return err
		}
		if d.spare > outer {
			return errSparse
		}
		if m.SetMapIndex(key.Elem(), elem.Elem()); m.Len() != i+1 {
			return errTwice
		}
	}
	return nil
}

// elements reads n elements of an array or a slice. v points to the first.
func (d *partsDecoder) elements(p *part, v unsafe.Pointer, n int) error {
	if n == 0 || p.elem.shortest == 0 {
		return nil
	}
	size := p.elem.size()
	if p.elem.fixed != nil {
		p.elem.fixed.times(n, size).decode(d.take(n*p.elem.shortest), v)
		return nil
	}
	for i := range n {
		if err := d.get(p.elem, unsafe.Add(v, uintptr(i)*size)); err != nil {
			return err
		}
	}
	return nil
}
