package slots

// How many values were ever inserted is told from the generations: a slot's grows by two with each life. So no
// insertion and no removal counts anything. Two kinds of
// lives would make it wrong, and these are counted, by calls that are rare:
//
//	survey   lives in the words of slots that have memory
//	gone     lives that were in the words of pages, when these gave up their memory
//	unborn   lives in either that never began: burnt, skipped, or below the floor of a page that came back
//
//	inserted = survey + gone − unborn
//
// At rest this is exact. Beside other calls it must not be too high, or a later call, which is right, would
// go back. So a life is counted as unborn before any word shows it, and a reader loads unborn after the
// words. A page's lives are added to gone after the page has left the table, and a reader loads gone before
// the table. What a reader then misses is missing from the sum, and a later call has it. Arena.reported keeps
// the sums from going down.
//
// The wrong version counts a life as unborn when the word is written. A reader between the two finds one
// insertion too many.

// unusedGeneration returns the generation of slot i before its first life: that from which its lives are
// counted. A slot that was restored may have been at an earlier one. Then it has a negative number of lives, and
// BeginCount takes that off.
func (t *Table) unusedGeneration(uint32) uint32 { return t.freshGeneration - 1 }

// Lives returns how many lives slot i has had with a generation, the current one included, and those that
// never began.
func (t *Table) Lives(i, generation uint32) int64 {
	return (int64(generation+generation%2) - int64(t.unusedGeneration(i))) / 2
}

// Survey is what a visit of all slots that have memory finds.
type Survey struct {
	Live   int
	Latest uint32 // the greatest generation
	lives  int64
	gone   int64
}

// Survey visits every slot that has memory. It takes 20 instructions for each of these.
func (t *Table) Survey() (s Survey) {
	s.gone = t.gone.Load() // before the table
	now := t.Pages()
	twice := uint64(0)
	for first := uint32(0); first < now.Limit; {
		block := now.Strip(first, now.Limit)
		live, latest, sum := block.survey(uint64(t.unusedGeneration(first)))
		s.Live += int(live)
		s.Latest = max(s.Latest, uint32(latest))
		twice += sum + live
		first = block.First + block.N
	}
	s.lives = int64(twice) / 2 // of each slot what Lives says
	return s
}

// survey is Survey for a strip of slots, all with the same unusedGeneration. It returns the sum of the
// differences to it.
//
//go:noinline
func (p Strip) survey(unused uint64) (live, latest, sum uint64) {
	used := uint64(0)
	for offset, size := uintptr(0), p.bytes(); offset < size; offset += p.size {
		g := p.hook(offset).Word.Load() >> 32
		latest = max(latest, g)
		sum += g
		live += g & 1
		used += (g + None) >> 32 // without a branch: 1, or 0 for a slot that was never used
	}
	return live, latest, sum - used*unused
}

// Inserted returns how many lives have begun, as a survey found them. Unborn is how many of the lives that
// words show never began, by the counts of others, which the caller loads after the survey.
func (t *Table) Inserted(s Survey, unborn int64) int64 {
	return s.lives + s.gone - t.unborn.Load() - unborn
}

// Live returns how many slots are live. It visits every slot that has memory, with 8 instructions for each.
func (t *Table) Live() (live int) {
	now := t.Pages()
	for first := uint32(0); first < now.Limit; {
		block := now.Strip(first, now.Limit)
		for offset, size := uintptr(0), block.bytes(); offset < size; offset += block.size {
			live += int(block.hook(offset).Word.Load() >> 32 & 1)
		}
		first = block.First + block.N
	}
	return live
}

// BeginCount makes what is live all that has ever lived, in a table that was restored and that no other
// goroutine has.
func (t *Table) BeginCount() {
	s := t.Survey()
	t.unborn.Store(s.lives - int64(s.Live))
}
