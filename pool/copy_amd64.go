//go:build gc && !race && !interleave

package pool

// copiesWithoutPin reports whether Get copies a value between two looks at the
// slot's word, in place of a pin. L12 of DESIGN.md needs the second look to come after
// all of the copy's loads, which two parties must keep: the compiler, which moves no
// load past an atomic one, and the processor, which keeps loads in order.
const copiesWithoutPin = true
