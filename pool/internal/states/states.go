// Package states lists the states of a pool's slots in one place, for package poolhttp
// and the collectors of pool/metrics.
package states

import (
	"time"

	"go.uber.org/atomic"

	"coatcheck/pool"
)

// OldPin is the age at which a pin makes a card of poolhttp's page amber. Only the browser's test sets it.
var OldPin = atomic.NewDuration(time.Minute)

// State is a state of a slot.
type State struct {
	Name, What string
	Of         func(pool.Stats) int // the number of slots in this state
}

// All are the states of slots with memory, from the bottom of a chart to its top. Free is
// last: a chart may omit some free slots, since there may be very many.
var All = [...]State{
	{"live", "slots with a value", func(s pool.Stats) int { return s.Live }},
	{"reserved", "slots of open Reservations", func(s pool.Stats) int { return s.Reserved }},
	{"cached", "free slots in the reach of open Workers", func(s pool.Stats) int { return s.Cached }},
	{"limbo", "removed slots that are not reclaimed yet", func(s pool.Stats) int { return s.Limbo }},
	{"exhausted", "slots whose generations are used up", func(s pool.Stats) int { return s.Exhausted }},
	{"free", "vacant slots that any Insert may take", func(s pool.Stats) int { return s.Free }},
}
