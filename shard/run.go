package shard

import "coatcheck/internal/atom"

// run is a range of slots that were never used, or not since their page came back: next | end.
// Its zero value is empty.
//
//	writers  take and cut, by compare-and-swap; set, under the owner's lock, when it is empty
//	moves    next grows to end; then another range
type run struct{ word atom.Uint64 }

// bounds returns the range: it is empty if both are equal.
func (r *run) bounds() (next, end uint32) {
	w := r.word.Load()
	return min(Generation(w), Low(w)), Low(w)
}

// left returns how many slots are left.
func (r *run) left() int { return length(r.word.Load()) }

func length(w uint64) int { return max(0, int(int64(Low(w))-int64(Generation(w)))) }

// take takes up to n slots: count of them from index first. It says whether it met another goroutine.
func (r *run) take(n int) (first uint32, count int, contended bool) {
	for ; ; contended = true {
		w := r.word.Load()
		count = min(n, length(w))
		// Success gives the first slots of the range that was read, or of a later one that
		// looks the same, which is as good. Failure means that another goroutine was given
		// slots.
		if count == 0 || r.word.CompareAndSwap(w, w+uint64(count)<<32) {
			return Generation(w), count, contended
		}
	}
}

// cut takes the slots from lo on of the range next to end, if it still is that.
func (r *run) cut(next, end, lo uint32) bool {
	return r.word.CompareAndSwap(Pack(next, end), Pack(next, lo))
}

// set makes slots lo to hi-1 the range, which is empty.
func (r *run) set(lo, hi uint32) { r.word.Store(Pack(lo, hi)) }

// ends returns the range, lo and hi, or nothing if it is empty.
func (r *run) ends() []uint64 {
	lo, hi := r.bounds()
	if lo == hi {
		return nil
	}
	return []uint64{uint64(lo), uint64(hi)}
}
