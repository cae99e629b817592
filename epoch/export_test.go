package epoch

// SetEpoch moves a domain's clock, for tests near its limit.
func (d *Domain) SetEpoch(e uint64) { d.epoch.Store(e) }

// Blocks returns how many cells each block has, and whether it was ever used.
func (d *Domain) Blocks() (cells []int, used []bool) {
	for b := &d.first; b != nil; b = b.next.Load() {
		cells = append(cells, len(b.cells))
		used = append(used, b.used.Load() != 0)
	}
	return cells, used
}

// Claimed, Released, IsActive and EpochOf are the arithmetic of a cell's word.
func Claimed(idle, e uint64) uint64 { return claimed(idle, e) }
func Released(word uint64) uint64   { return released(word) }
func IsActive(word uint64) bool     { return isActive(word) }
func EpochOf(word uint64) uint64    { return epochOf(word) }
