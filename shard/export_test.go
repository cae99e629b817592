package shard

// ReclaimMost is how many slots one Reclaim moves.
const ReclaimMost = reclaimMost

// Order returns the slots of the shard's list, in the order in which they will be
// handed out.
func (s *Shard[T]) Order() (slots []uint32) {
	for i := Low(s.free.Load()); i != None; i = Low(s.space.Slot(i).Word.Load()) {
		slots = append(slots, i)
	}
	return slots
}
