package slots

import "unsafe"

const FewEntries = fewEntries

// MakeEntries is makeEntries.
func MakeEntries(n int) unsafe.Pointer { return makeEntries(n) }
