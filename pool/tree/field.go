package tree

import "unsafe"

// field is where the links lie in a value: at an offset, if the function that finds them shows that
// they are a part of the value, or else where the function says. The call of a function costs as
// much as the look-up of a handle.
type field[T any] struct {
	find   func(*T) *Links[T]
	offset uintptr // notInside: find is called for each value
}

// notInside is no offset.
const notInside = ^uintptr(0)

// fieldOf asks for the links of a zero T. The function may panic for one, as for a T that is a nil
// pointer, or lead out of it.
func fieldOf[T any](find func(*T) *Links[T]) (at field[T]) {
	at = field[T]{find: find, offset: notInside}
	defer func() { _ = recover() }()
	v := new(T)
	size, links := unsafe.Sizeof(*v), unsafe.Sizeof(Links[T]{})
	// As numbers, the two are compared while v keeps its memory.
	offset := uintptr(unsafe.Pointer(find(v))) - uintptr(unsafe.Pointer(v))
	if size >= links && offset <= size-links {
		at.offset = offset
	}
	return at
}

// links returns the links of a value.
func (at *field[T]) links(v *T) *words[T] {
	if at.offset != notInside {
		return at.inside(v)
	}
	return at.call(v)
}

// inside is links where there is an offset.
func (at *field[T]) inside(v *T) *words[T] {
	return (*words[T])(unsafe.Add(unsafe.Pointer(v), at.offset))
}

// call is links without an offset. It is not inlined, so that links is.
//
//go:noinline
func (at *field[T]) call(v *T) *words[T] {
	l := at.find(v)
	if l == nil {
		panic(noLinks)
	}
	return &l.Words
}
