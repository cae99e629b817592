//go:build !coatcheck_debug || interleave

package slots

import "reflect"

// Poisons is false without the build tag coatcheck_debug (debug_on.go). Nothing in this file has a size.
const Poisons = false

type (
	numbers struct{}
	marks   struct{}
	vacancy struct{} //lint:ignore U1000 the tag has more
)

func numbersOf(reflect.Type) numbers { return numbers{} }

func newMarks(uint32) marks { return marks{} }

func (marks) bytes() int64 { return 0 }

// MarkVacant does nothing.
func (t *Table) MarkVacant(*Hook, uint32) {}

// Unmark does nothing.
func (t *Table) Unmark(*Hook, uint32) bool { return true }
