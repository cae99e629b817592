package slots

import "coatcheck/internal/atom"

// Range is a range of slots that were never used, or not since their page came back: next | end.
// Its zero value is empty.
//
//	writers  Take and Cut, by compare-and-swap; Set, under the owner's lock, when it is empty
//	moves    next grows to end; then another range
type Range struct{ Word atom.Uint64 }

// Bounds returns the range: it is empty if both are equal.
func (r *Range) Bounds() (next, end uint32) {
	w := r.Word.Load()
	return min(Generation(w), Low(w)), Low(w)
}

// Left returns how many slots are left.
func (r *Range) Left() int { return length(r.Word.Load()) }

func length(w uint64) int { return max(0, int(int64(Low(w))-int64(Generation(w)))) }

// Take takes up to n slots: count of them from index first. It says whether it met another goroutine.
func (r *Range) Take(n int) (first uint32, count int, contended bool) {
	for ; ; contended = true {
		w := r.Word.Load()
		count = min(n, length(w))
		// Success gives the first slots of the range that was read, or of a later one that
		// looks the same, which is as good. Failure means that another goroutine was given
		// slots.
		if count == 0 || r.Word.CompareAndSwap(w, w+uint64(count)<<32) {
			return Generation(w), count, contended
		}
	}
}

// Cut takes the slots from lo on of the range next to end, if it still is that.
func (r *Range) Cut(next, end, lo uint32) bool {
	return r.Word.CompareAndSwap(Pack(next, end), Pack(next, lo))
}

// Set makes slots lo to hi-1 the range, which is empty.
func (r *Range) Set(lo, hi uint32) { r.Word.Store(Pack(lo, hi)) }

// Ends returns the range, lo and hi, or nothing if it is empty.
func (r *Range) Ends() []uint64 {
	lo, hi := r.Bounds()
	if lo == hi {
		return nil
	}
	return []uint64{uint64(lo), uint64(hi)}
}
