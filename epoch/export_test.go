package epoch

// SetEpoch sets a domain's epoch, for tests near its limit.
func (d *Domain) SetEpoch(e uint64) { d.epoch.Store(e) }

// Blocks returns how many cells each block has, the newest first, and how many
// groups of each a scan visits.
func (d *Domain) Blocks() (cells, groups []int) {
	for b := d.top.Load(); b != nil; b = b.older {
		cells = append(cells, len(b.cells))
		groups = append(groups, int(b.groups.Load()))
	}
	return cells, groups
}

// FirstCells returns how many cells there are from the start.
func (d *Domain) FirstCells() int { return len(d.first) }

// Claimed, Released, IsActive, IsBrief and EpochOf are the arithmetic of a cell's
// word.
func Claimed(idle, e, kind uint64) uint64 { return claimed(idle, e, kind) }
func Released(word uint64) uint64         { return released(word) }
func IsActive(word uint64) bool           { return isActive(word) }
func IsBrief(word uint64) bool            { return isBrief(word) }
func EpochOf(word uint64) uint64          { return epochOf(word) }

// Mix is mix.
func Mix(at, salt uint32) uint32 { return mix(at, salt) }

const (
	Active = active
	Brief  = brief
	Group  = fan
)
