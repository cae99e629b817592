package codec

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"unsafe"
)

var (
	errDeep  = fmt.Errorf("it is nested deeper than %d pointers, slices and maps, or leads back to itself", maxDepth)
	errFlag  = errors.New("a pointer is marked neither nil nor set")
	errRange = errors.New("a number is beyond the range of int or uint on this platform")
	errTwice = errors.New("a map has a key twice")

	errSparse = fmt.Errorf("it takes more than %d times as much memory as its encoding", memoryFactor)
	errLost   = errors.New("a key of a map is another one when it is read back")
)

// partsCodec is for types that are written by their parts.
type partsCodec struct{ top *part }

func (c partsCodec) Append(dst []byte, v unsafe.Pointer) ([]byte, error) {
	e := partsEncoder{dst: dst, limit: len(dst) + MaxValue}
	err := e.put(c.top, reflect.NewAt(c.top.typ, v).Elem())
	return e.dst, err
}

func (c partsCodec) Decode(src []byte, v unsafe.Pointer) (rest []byte, err error) {
	defer caught(&err)
	return c.top.decode(src, reflect.NewAt(c.top.typ, v).Elem())
}

// decode reads v, which is zero, from the beginning of src, and returns the rest.
func (p *part) decode(src []byte, v reflect.Value) (rest []byte, err error) {
	d := partsDecoder{src: src}
	if err = d.claim(1, p.least); err == nil {
		err = d.get(p, v)
	}
	return d.src, err
}

// partsEncoder writes one value.
type partsEncoder struct {
	dst   []byte
	limit int // the greatest length of dst
	depth int
}

// put appends v, which is addressable.
func (e *partsEncoder) put(p *part, v reflect.Value) error {
	if p.own {
		b, err := v.Addr().Interface().(encoding.BinaryMarshaler).MarshalBinary()
		if err == nil {
			err = e.room(len(b), 1)
		}
		if err == nil && lengthBytes+len(b) < p.least {
			err = fmt.Errorf("%w: %v: %w", ErrType, p.typ, errSparse)
		}
		if err == nil {
			e.length(len(b))
			e.dst = append(e.dst, b...)
		}
		return err
	}
	if err := e.room(1, p.least); err != nil {
		return err
	}
	if p.fixed != nil {
		e.dst = p.fixed.append(e.dst, v.Addr().UnsafePointer())
		return nil
	}
	switch p.typ.Kind() {
	case reflect.Int:
		e.dst = order.AppendUint64(e.dst, uint64(v.Int()))
	case reflect.Uint:
		e.dst = order.AppendUint64(e.dst, v.Uint())
	case reflect.String:
		if err := e.room(v.Len(), 1); err != nil {
			return err
		}
		e.length(v.Len())
		e.dst = append(e.dst, v.String()...)
	case reflect.Struct:
		for _, f := range p.fields {
			if err := e.put(f.part, v.Field(f.index)); err != nil {
				return err
			}
		}
	case reflect.Array:
		return e.elements(p, v)
	default:
		return e.inside(p, v)
	}
	return nil
}

// inside appends a pointer, slice or map and its contents.
func (e *partsEncoder) inside(p *part, v reflect.Value) error {
	if e.depth++; e.depth > maxDepth {
		return fmt.Errorf("%w: %w", ErrType, errDeep)
	}
	defer func() { e.depth-- }()
	switch pointer := p.typ.Kind() == reflect.Pointer; {
	case v.IsNil() && pointer:
		e.dst = append(e.dst, 0)
		return nil
	case v.IsNil():
		e.length(0)
		return nil
	case pointer:
		e.dst = append(e.dst, 1)
		return e.put(p.elem, v.Elem())
	}
	n, least := v.Len(), p.entry
	if p.key == nil {
		least = p.elem.least
	}
	if err := e.room(n, max(1, least)); err != nil {
		return err
	}
	e.length(n + 1)
	if p.key == nil {
		return e.elements(p, v)
	}
	return e.entries(p, v)
}

// entries appends the keys and the elements of a map, in the order of the bytes of the entries, so
// that equal maps have one encoding.
func (e *partsEncoder) entries(p *part, v reflect.Value) error {
	var spans [][2]int // of the entries
	key, elem := reflect.New(p.key.typ).Elem(), reflect.New(p.elem.typ).Elem()
	check := p.key.fixed == nil && p.key.typ.Kind() != reflect.String || p.key.own
	for entry := v.MapRange(); entry.Next(); {
		key.SetIterKey(entry)
		elem.SetIterValue(entry)
		at := len(e.dst)
		if err := e.put(p.key, key); err != nil {
			return err
		}
		if check && !p.key.finds(key, e.dst[at:]) {
			return fmt.Errorf("%w: %v: %w", ErrType, p.key.typ, errLost)
		}
		if err := e.put(p.elem, elem); err != nil {
			return err
		}
		if len(e.dst)-at < p.entry {
			return fmt.Errorf("%w: %v: %w", ErrType, p.typ, errSparse)
		}
		spans = append(spans, [2]int{at, len(e.dst)})
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

// spanned returns how many bytes spans have.
func spanned(spans [][2]int) (n int) {
	for _, s := range spans {
		n += s[1] - s[0]
	}
	return n
}

// finds reports whether a key is the same when it is read back. If not, as where UnmarshalBinary
// makes a new time.Location, the copy's map would not find it; and two keys may have one encoding.
// Keys with a NaN are never found.
func (p *part) finds(key reflect.Value, encoding []byte) (ok bool) {
	if !key.Equal(key) {
		return true
	}
	again := reflect.New(p.typ).Elem()
	err := func() (err error) {
		defer caught(&err)
		_, err = p.decode(encoding, again)
		return err
	}()
	return err == nil && key.Equal(again)
}

// elements appends the elements of an array or a slice.
func (e *partsEncoder) elements(p *part, v reflect.Value) error {
	n := v.Len()
	if n == 0 || p.elem.least == 0 {
		return nil
	}
	if p.elem.fixed != nil { // v is a slice: such an array is of fixed size itself
		e.dst = p.elem.fixed.times(n, p.elem.typ.Size()).append(e.dst, v.UnsafePointer())
		return nil
	}
	for i := range n {
		if err := e.put(p.elem, v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

// room returns an error unless n times size bytes, and a length, fit below the limit.
func (e *partsEncoder) room(n, size int) error {
	if left := e.limit - len(e.dst) - lengthBytes; left < 0 || size > 0 && n > left/size {
		return errTooLong
	}
	return nil
}

func (e *partsEncoder) length(n int) {
	e.dst = order.AppendUint32(e.dst, uint32(n))
}

// partsDecoder reads one value.
//
// Before a part is read, the bytes of its shortest encoding are claimed. Those of a
// slice's elements are claimed all at once, when its length is known and before it is
// allocated. Claims never exceed the input that is left, and a byte is claimed by one
// part at a time. If each part could count on all that is left, nested slices could take
// the square of the input.
//
// The shortest entry of a map may be longer than that of its key and of its element. What was
// claimed for it beyond these is spare: it is the first that they claim themselves.
type partsDecoder struct {
	src     []byte
	claimed int // bytes of src
	spare   int // those of them that are spare
	depth   int
}

// claim claims n times size bytes.
func (d *partsDecoder) claim(n, size int) error {
	if size > 0 && n > (len(d.src)-d.claimed+d.spare)/size {
		return errShort
	}
	n *= size
	spare := min(d.spare, n)
	d.spare -= spare
	d.claimed += n - spare
	return nil
}

// take returns the next n bytes, which have been claimed.
func (d *partsDecoder) take(n int) []byte {
	b := d.src[:n:n]
	d.src = d.src[n:]
	d.claimed -= n
	return b
}

// length reads a length, which has been claimed.
func (d *partsDecoder) length() int {
	return int(min(order.Uint32(d.take(lengthBytes)), MaxValue+1))
}

// bytes reads a length, and that many bytes. least bytes have been claimed for both.
func (d *partsDecoder) bytes(least int) ([]byte, error) {
	n := d.length()
	if lengthBytes+n < least {
		return nil, errSparse
	}
	if err := d.claim(1, lengthBytes+n-least); err != nil {
		return nil, err
	}
	return d.take(n), nil
}

// get reads v, which is zero. Its shortest encoding has been claimed.
func (d *partsDecoder) get(p *part, v reflect.Value) error {
	if p.own {
		b, err := d.bytes(p.least)
		if err != nil {
			return err
		}
		return v.Addr().Interface().(encoding.BinaryUnmarshaler).UnmarshalBinary(b)
	}
	if p.fixed != nil {
		p.fixed.decode(d.take(p.least), v.Addr().UnsafePointer())
		return nil
	}
	switch p.typ.Kind() {
	case reflect.Int:
		n := int64(order.Uint64(d.take(8)))
		if v.SetInt(n); v.Int() != n {
			return errRange
		}
	case reflect.Uint:
		n := order.Uint64(d.take(8))
		if v.SetUint(n); v.Uint() != n {
			return errRange
		}
	case reflect.String:
		b, err := d.bytes(lengthBytes)
		if err != nil {
			return err
		}
		v.SetString(string(b))
	case reflect.Struct:
		for _, f := range p.fields {
			if err := d.get(f.part, v.Field(f.index)); err != nil {
				return err
			}
		}
	case reflect.Array:
		return d.elements(p, v)
	default:
		return d.inside(p, v)
	}
	return nil
}

// inside reads a pointer, slice or map and its contents.
func (d *partsDecoder) inside(p *part, v reflect.Value) error {
	if d.depth++; d.depth > maxDepth {
		return errDeep
	}
	defer func() { d.depth-- }()
	if p.typ.Kind() == reflect.Pointer {
		return d.pointee(p, v)
	}
	n := d.length() - 1
	if n < 0 {
		return nil
	}
	if p.key != nil {
		return d.entries(p, v, n)
	}
	if err := d.claim(n, p.elem.least); err != nil {
		return err
	}
	v.Set(reflect.MakeSlice(p.typ, n, n))
	return d.elements(p, v)
}

func (d *partsDecoder) pointee(p *part, v reflect.Value) error {
	switch d.take(1)[0] {
	case 0:
		return nil
	case 1:
		if err := d.claim(1, p.elem.least); err != nil {
			return err
		}
		to := reflect.New(p.elem.typ)
		v.Set(to.Convert(p.typ))
		return d.get(p.elem, to.Elem())
	}
	return errFlag
}

// entries reads the n entries of a map.
func (d *partsDecoder) entries(p *part, v reflect.Value, n int) error {
	if n > 1 && p.key.least == 0 {
		return errTwice // there is only one such key
	}
	if err := d.claim(n, p.entry); err != nil {
		return err
	}
	spare := p.entry - p.key.least - p.elem.least
	v.Set(reflect.MakeMapWithSize(p.typ, n))
	key, elem := reflect.New(p.key.typ).Elem(), reflect.New(p.elem.typ).Elem()
	for i := range n {
		key.SetZero()
		elem.SetZero()
		d.spare += spare
		left := len(d.src)
		if err := d.get(p.key, key); err != nil {
			return err
		}
		if err := d.get(p.elem, elem); err != nil {
			return err
		}
		if left-len(d.src) < p.entry {
			return errSparse
		}
		if v.SetMapIndex(key, elem); v.Len() != i+1 {
			return errTwice
		}
	}
	return nil
}

// elements reads the elements of an array or a slice.
func (d *partsDecoder) elements(p *part, v reflect.Value) error {
	n := v.Len()
	if n == 0 || p.elem.least == 0 {
		return nil
	}
	if p.elem.fixed != nil {
		p.elem.fixed.times(n, p.elem.typ.Size()).decode(d.take(n*p.elem.least), v.UnsafePointer())
		return nil
	}
	for i := range n {
		if err := d.get(p.elem, v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}
