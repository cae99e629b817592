//go:build coatcheck_debug && !interleave

package slots

import (
	"bytes"
	"hash/maphash"
	"reflect"
	"unsafe"

	"coatcheck/internal/atom"
	"coatcheck/internal/pointers"
)

// With the tag coatcheck_debug, each vacant value is filled with a pattern, or hashed if there is a Reset, and its
// slot gets a mark. If the value differs later, something wrote to it after its removal.

// Poisons reports whether a slot that is ready for its next life gets a mark, so that a write through a pointer that
// was kept for too long is found. DESIGN.md has the whole under "Debug build".
const Poisons = true

// poison is what each byte of a vacant value is filled with, but for words that may hold pointers: these are
// nil, since the collector would follow what looks like one.
const poison = 0xDB

// numbers are the parts of a value that hold no pointers. Other than these are the words that may.
type numbers []pointers.Range

func numbersOf(t reflect.Type) numbers { return pointers.Numbers(t) }

// marks are those of the slots of one page, under vacancy.mu: 0 if the slot has none (DESIGN.md, Debug build). In an
// arena without a Reset the mark of a slot is 1; with one, a hash of its value.
type marks []uint64

func newMarks(n uint32) marks { return make(marks, n) }

func (m marks) bytes() int64 { return 8 * int64(cap(m)) }

// vacancy guards the marks of a table. mu is taken last, and no user code runs under it.
type vacancy struct {
	mu   atom.Mutex
	next uint32 // the slot at which the next Sweep begins
}

// seed is that of all hashes.
var seed = maphash.MakeSeed()

// fill fills the value of a slot.
func (l *Layout) fill(slot *Hook) {
	if l.Pointers {
		l.Clear(slot)
	}
	b := l.bytesOf(slot)
	for _, r := range l.numbers {
		part := b[r.From:r.To]
		for i := range part {
			part[i] = poison
		}
	}
}

// filled reports whether the value of a slot is as fill left it.
func (l *Layout) filled(slot *Hook) bool {
	b, end := l.bytesOf(slot), uintptr(0)
	for _, r := range l.numbers {
		if !isAll(b[end:r.From], 0) || !isAll(b[r.From:r.To], poison) {
			return false
		}
		end = r.To
	}
	return isAll(b[end:], 0)
}

// isAll compares b with itself, one byte further on, which takes some steps for 32 bytes.
func isAll(b []byte, x byte) bool {
	return len(b) == 0 || b[0] == x && bytes.Equal(b[1:], b[:len(b)-1])
}

// bytesOf returns the value as bytes (unsafe register, U8).
func (l *Layout) bytesOf(slot *Hook) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(slot), -int(l.Word))), l.value)
}

// hash returns the mark of a slot whose value a Reset has left.
func (l *Layout) hash(slot *Hook) uint64 { return maphash.Bytes(seed, l.bytesOf(slot)) | 1 }

// mark fills the value of a slot, unless there is a Reset, and returns its mark.
func (l *Layout) mark(slot *Hook) uint64 {
	if l.Reset != nil {
		return l.hash(slot)
	}
	l.fill(slot)
	return 1
}

// untouched reports whether the value of a slot is as it was when the slot got its mark. A slot that was never
// used has none, and is zero.
func (l *Layout) untouched(slot *Hook, mark uint64) bool {
	switch {
	case mark == 0:
		return isAll(l.bytesOf(slot), 0)
	case l.Reset != nil:
		return l.hash(slot) == mark
	}
	return l.filled(slot)
}

// MarkVacant makes a mark for slot i, which the caller owns and which is ready for its next life.
func (t *Table) MarkVacant(slot *Hook, i uint32) {
	mark := t.layout.mark(slot)
	t.vacancy.mu.Lock()
	defer t.vacancy.mu.Unlock()
	m, j := t.Pages().Meta(i)
	m.marks[j] = mark
}

// Unmark takes away the mark of slot i, which the caller owns and may write from then on. It reports whether
// the value is untouched.
func (t *Table) Unmark(slot *Hook, i uint32) (untouched bool) {
	t.vacancy.mu.Lock()
	defer t.vacancy.mu.Unlock()
	m, j := t.Pages().Meta(i)
	mark := m.marks[j]
	m.marks[j] = 0
	return t.layout.untouched(slot, mark)
}

// Touched reports whether slot i, which lies in the table, has a mark and was written to since. It reports each
// write once, since it marks the slot anew.
func (t *Table) Touched(i uint32) bool {
	t.vacancy.mu.Lock()
	defer t.vacancy.mu.Unlock()
	m, j := t.Pages().Meta(i)
	return t.touched(m, j)
}

// touched is Touched for slot j of m's page, under the mutex.
func (t *Table) touched(m *PageMeta, j uint32) bool {
	if j >= uint32(len(m.marks)) || m.marks[j] == 0 {
		return false // or the page has no memory
	}
	slot := (*Hook)(unsafe.Add(m.page, uintptr(j)*t.layout.Size))
	if t.layout.untouched(slot, m.marks[j]) {
		return false
	}
	m.marks[j] = t.layout.mark(slot)
	return true
}

// Sweep looks for a slot that was written to, among as many as given, from where it ended before. It returns
// the first that it finds.
func (t *Table) Sweep(most uint32) (i uint32, found bool) {
	v := &t.vacancy
	v.mu.Lock()
	defer v.mu.Unlock()
	now := t.Pages()
	if v.next >= now.Limit {
		v.next = 0
	}
	most = min(most, now.Limit)
	i, found = t.sweep(now, v.next, most)
	if left := most - min(most, now.Limit-v.next); !found && left > 0 {
		i, found = t.sweep(now, 0, left)
	}
	v.next = i // the one that was found is looked at once more
	return i, found
}

// SweepAll is Sweep of all slots from first on.
func (t *Table) SweepAll(first uint32) (i uint32, found bool) {
	now := t.Pages()
	for i = first; i < now.Limit && !found; {
		t.vacancy.mu.Lock() // anew, so that others need not wait for all
		i, found = t.sweep(now, i, SweepMost)
		t.vacancy.mu.Unlock()
	}
	return i, found
}

// SweepMost is how many slots an insertion sweeps that does so, at some 5 ns for each that has a mark.
const SweepMost = 1 << 12

// sweep looks at n slots from first on, or as many as there are. It returns the slot that it found, or the one behind
// the last. In an older table than the current one it finds memory that was given up, which is as good.
func (t *Table) sweep(now *PageTable, first, n uint32) (i uint32, found bool) {
	end := first + min(n, now.Limit-first)
	for i = first; i < end; {
		m, j := now.Meta(i)
		stop := min(m.N, j+end-i)
		for ; j < stop; j++ {
			if t.touched(m, j) {
				return m.FirstSlot + j, true
			}
		}
		i = m.FirstSlot + stop
	}
	return i, false
}
