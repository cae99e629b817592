package tree

import "unsafe"

// field is where the links lie in a value: at an offset, if the function that finds them shows that
// they are a part of the value, or else where the function says. The call of a function costs as
// much as the look-up of a handle.
type field[T any] struct {
	// outside finds the links of a value that are no part of it; nil if they are one.
	outside func(*T) *words[T]
	offset  uintptr
}

// fieldOf asks for the links of a zero T. The function may panic for one, as for a T that is a nil
// pointer, or lead out of it.
func fieldOf[T any](find func(*T) *Links[T]) (at field[T]) {
	at.outside = outsideOf(find)
	defer func() { _ = recover() }()
	v := new(T)
	size, links := unsafe.Sizeof(*v), unsafe.Sizeof(Links[T]{})
	// As numbers, the two are compared while v keeps its memory.
	offset := uintptr(unsafe.Pointer(find(v))) - uintptr(unsafe.Pointer(v))
	if size >= links && offset <= size-links {
		at.outside, at.offset = nil, offset
	}
	return at
}

func outsideOf[T any](find func(*T) *Links[T]) func(*T) *words[T] {
	return func(v *T) *words[T] {
		l := find(v)
		if l == nil {
			panic(noLinks)
		}
		return &l.Words
	}
}

// links returns the links of a value. It is inlined, with room for one call of a function value.
func (at *field[T]) links(v *T) *words[T] {
	if at.outside != nil {
		return at.outside(v)
	}
	return (*words[T])(unsafe.Add(unsafe.Pointer(v), at.offset))
}

// inside is links where they are a part of the value.
func (at *field[T]) inside(v *T) *words[T] {
	return (*words[T])(unsafe.Add(unsafe.Pointer(v), at.offset))
}
