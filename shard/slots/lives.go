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

// Lives returns how many lives a slot has had at a stage (origins.go), the current one included, and those that never
// began. They are counted from the stage that slots have before they are first used. A slot that was restored may
// have been at an earlier one. Then it has a negative number of lives, and BeginCount takes that off.
func (t *Table) Lives(stage uint32) int64 {
	return (int64(stage+stage%2) - int64(t.FreshStage()-1)) / 2
}

// Survey is what a visit of all slots that have memory finds.
type Survey struct {
	Live  int
	Worn  float64 // which share of its lives the most worn slot has had: the current one included, an exhausted one all
	lives int64
	gone  int64
}

// Survey visits every slot that has memory. It takes some 30 instructions for each of these.
func (t *Table) Survey() (s Survey) {
	s.gone = t.gone.Load() // before the table
	now := t.Pages()
	twice := uint64(0)
	for first := uint32(0); first < now.Limit; {
		block := now.Strip(first, now.Limit)
		live, sum, worn := block.survey(&t.origins, uint64(t.FreshStage()-1))
		s.Live += int(live)
		s.Worn = max(s.Worn, worn)
		twice += sum + live
		first = block.First + block.N
	}
	s.lives = int64(twice) / 2 // of each slot what Lives says
	return s
}

// survey is Survey for a strip of slots. It returns the sum of their stages, less that of a slot that was never used
// for each.
//
//go:noinline
func (p Strip) survey(o *Origins, unused uint64) (live, sum uint64, worn float64) {
	base, step, spread := uint64(o.first-1), uint64(o.step), uint64(o.spread(p.First))
	for offset, size := uintptr(0), p.bytes(); offset < size; offset += p.size {
		g := p.hook(offset).Word.Load() >> 32
		live += g & 1
		if g != 0 {
			stage := g - base - spread
			sum += stage - unused
			// Slots have not equally many lives: the one that begins first has the most. Both numbers are twice those.
			if w := float64(int64((stage+1)&^1)) / float64(int64(Spent-base-spread)); w > worn {
				worn = w
			}
		}
		spread = (spread + step) & spreadMask
	}
	return live, sum, worn
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
