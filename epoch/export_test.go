package epoch

import "time"

// SetEpoch sets a domain's epoch, for tests near its limit.
func (d *Domain) SetEpoch(e uint64) { d.clock.Store(e) }

// Blocks returns how many cells each block has, the newest first, and how many
// groups of each a scan visits.
func (d *Domain) Blocks() (cells, groups []int) {
	for b := d.top.Load(); b != nil; b = b.older {
		cells = append(cells, len(b.cells))
		groups = append(groups, int(b.groups.Load()))
	}
	return cells, groups
}

// Rows returns how many cells each row has, the newest first.
func (d *Domain) Rows() (cells []int) {
	for r := d.row.Load(); r != nil; r = r.older.Load() {
		cells = append(cells, len(r.cells))
	}
	return cells
}

// CloseOlder closes the first n cells of the row before the newest, as a scan does that then meets a pin.
func (d *Domain) CloseOlder(n int) {
	for i := range n {
		d.row.Load().older.Load().cells[i].close()
	}
}

// CloseNewest closes the cells of the newest row, as a scan does with an older one, and reports whether it has closed all.
func (d *Domain) CloseNewest() bool { return d.row.Load().close() }

// MeetOnce is what a pin does that has met another in the newest row.
func (d *Domain) MeetOnce() { d.meet(d.row.Load()) }

// Claimed, IsActive, IsBrief and EpochOf are the arithmetic of a cell's word.
func Claimed(idle, e, kind uint64) uint64 { return claimed(idle, e, kind) }
func IsActive(word uint64) bool           { return isActive(word) }
func IsBrief(word uint64) bool            { return isTransient(word) }
func EpochOf(word uint64) uint64          { return epochOf(word) }

// Released returns the word of a cell after the release of a guard whose word is word.
func Released(word uint64) uint64 {
	var c cell
	c.word.Store(word)
	Guard{&c.word, word}.Release()
	return c.word.Load()
}

// Mix is what a block makes of a hint and a salt.
func Mix(at, salt uint32) uint32 { return mix(at + salt*saltFactor) }

const (
	Active    = active
	Transient = transient
	Group     = fan
	Least     = leastCells
	Meetings  = meetings
)

// Epoch returns the epoch in the guard's cell.
func (g Guard) Epoch() uint64 { return epochOf(g.word) }

// SetMet sets back the time at which pins met last.
func (d *Domain) SetMet(ago time.Duration) { d.meetings.Store(now() - uint64(ago)) }

// Marks returns how many marks each level of a block of n cells has, the lowest first.
func Marks(n int) (levels []int) {
	for _, marks := range newBlock(n, nil).marks {
		levels = append(levels, len(marks))
	}
	return levels
}

// SetMarks sets the marks of the newest block up to a level, as pins have that are preempted there. It
// reports whether there is a level above.
func (d *Domain) SetMarks(level int) bool {
	b := d.top.Load()
	for k, marks := range b.marks[:level+1] {
		for i := range marks {
			if marks[i].raise() && k == 0 {
				b.groups.Add(1)
			}
		}
	}
	return level+1 < len(b.marks)
}

// UncountGroups takes n groups off those of the newest block, as a scan does before the pin that has raised a mark
// counts it.
func (d *Domain) UncountGroups(n int) { d.top.Load().groups.Add(-int64(n)) }

// BlockBytes returns the memory of a block of n cells.
func BlockBytes(n int) int64 { return newBlock(n, nil).bytes() }

// FastPathHasNewestRow reports whether pins try the newest row first, without their slow half.
func (d *Domain) FastPathHasNewestRow() bool {
	r := d.row.Load()
	return r != nil && d.base.Load() == &r.cells[0] && d.mask.Load() == r.mask()
}
