//go:build !coatcheck_debug || interleave

package pool

import (
	"strings"

	"coatcheck/epoch"
	"coatcheck/shard/slots"
)

// debugging is false without the build tag coatcheck_debug, and in tests that explore
// schedules, whose steps the records would change. Nothing in this file has a size, and the
// compiler removes each `if debugging` before it decides what to inline.
const debugging = false

type (
	tracedDomain = epoch.Domain
	tracedPin    = epoch.Guard

	lives struct{}
	set   struct{}
	mark  struct{ noCopy }
	user  struct{}

	sweeps struct{} //lint:ignore U1000 the tag has more
)

func (c *core) record() {}

func clock(d *tracedDomain) *epoch.Domain { return d }

type caller struct{}

func callerOf() (c caller) { return c }

func pinFor(d *tracedDomain, _ caller) tracedPin { return d.PinUntraced() }

func misuse(text string, _ *tracedPin) string { return text }

func (lives) Began(uint64, string) {}

func (lives) Ended(uint64, string) {}

func (lives) Dropped(uint64, string) {}

func (lives) tell(uint64, bool) string { return "" }

func (set) tell(*strings.Builder) {}

func (set) tellDropped(*strings.Builder) {}

func (*mark) opened(set, string, string) {}

func (*mark) closed(set, string) {}

func (*mark) dropped(set, string) {}

func (*mark) watched(set, string, string) {}

func (set) Drops() int { return 0 }

func (*user) enter() func() { return nil }

func warnOfCopy[T any]() {}

func (c *core) mustBeUntouched(*slots.Hook, uint64) {}

func (c *core) refused(uint64) {}

func (c *core) mustBeClean() {}
