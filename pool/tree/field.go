package tree

import "unsafe"

// field finds the links of a value. If they are a part of the value, as New finds out, they lie at an
// offset. Otherwise the function of the user's finds them, at the cost of a look-up of a handle.
type field[T any] struct {
	// finder finds the links of a value that are no part of it. It is nil if they are a part.
	finder func(*T) *words[T]
	offset uintptr
}

// fieldOf returns the field that find shows. It calls find with a zero T, for which find may panic, as for
// a T that is a nil pointer, or lead out of it. Then the field calls find for each value.
func fieldOf[T any](find func(*T) *Links[T]) (fd field[T]) {
	fd.finder = finderOf(find)
	defer func() { _ = recover() }()
	v := new(T)
	size, links := unsafe.Sizeof(*v), unsafe.Sizeof(Links[T]{})
	// Numbers can be compared: v keeps its memory meanwhile.
	offset := uintptr(unsafe.Pointer(find(v))) - uintptr(unsafe.Pointer(v))
	if size >= links && offset <= size-links {
		fd.finder, fd.offset = nil, offset
	}
	return fd
}

// finderOf returns find as a function that panics if there are no links.
func finderOf[T any](find func(*T) *Links[T]) func(*T) *words[T] {
	return func(v *T) *words[T] {
		l := find(v)
		if l == nil {
			panic(noLinks)
		}
		return &l.Words
	}
}

// links returns the links of a value. The compiler inlines it, although it may call a function value.
func (fd *field[T]) links(v *T) *words[T] {
	if fd.finder != nil {
		return fd.finder(v)
	}
	return (*words[T])(unsafe.Add(unsafe.Pointer(v), fd.offset))
}

// embedded returns the links of a value of which they are a part.
func (fd *field[T]) embedded(v *T) *words[T] {
	return (*words[T])(unsafe.Add(unsafe.Pointer(v), fd.offset))
}
