//go:build !coatcheck_debug || interleave

package pool

import "coatcheck/epoch"

// debugging says whether the pool remembers who did what: only under the tag
// coatcheck_debug, and not where schedules are explored, whose steps that would
// change. This file is the negative of debug_on.go: nothing here has a size, and
// every `if debugging` is gone before the compiler counts what a function costs.
const debugging = false

type (
	tracedDomain = epoch.Domain
	tracedPin    = epoch.Guard

	lives struct{}
	set   struct{}
	mark  struct{ noCopy }
)

func (p *Pool[T]) record() {}

func clock(d *tracedDomain) *epoch.Domain { return d }

func misuse(text string, _ *tracedPin) string { return text }

func (lives) Began(uint64, string)     {}
func (lives) Ended(uint64, string)     {}
func (lives) Dropped(uint64, string)   {}
func (lives) tell(uint64, bool) string { return "" }

func (set) tell() string        { return "" }
func (set) tellDropped() string { return "" }

func (*mark) opened(set, string, string) {}
func (*mark) closed(set, string)         {}
func (*mark) dropped(set, string)        {}
