// Package states lists what the slots of a pool are counted as, once for all that show
// it: package poolhttp, and the collectors of pool/metrics.
package states

import "coatcheck/pool"

// State is one of the things that a slot may be.
type State struct {
	Name, What string
	Of         func(pool.Stats) int // how many slots are
}

// All are the states of slots with memory, from the bottom of a chart to its top:
// together they are all of them. Free is last: there may be so many free slots that a
// chart leaves some of them out.
var All = [...]State{
	{"live", "slots with a value", func(s pool.Stats) int { return s.Live }},
	{"reserved", "slots of open Reservations", func(s pool.Stats) int { return s.Reserved }},
	{"cached", "free slots in the reach of open Workers", func(s pool.Stats) int { return s.Cached }},
	{"limbo", "removed slots that wait for guards or Refs", func(s pool.Stats) int { return s.Limbo }},
	{"exhausted", "slots whose generations are used up", func(s pool.Stats) int { return s.Exhausted }},
	{"free", "vacant slots that any Insert may take", func(s pool.Stats) int { return s.Free }},
}
