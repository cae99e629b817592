package poolhttp

import (
	"fmt"
	"time"

	"coatcheck/pool"
	"coatcheck/pool/internal/states"
)

// lately is the time for which a refusal makes a card red.
const lately = time.Minute

// health is the colour of a card, and what to do about it in a sentence. Both are empty if
// there is nothing to do.
type health struct{ Colour, Advice string }

// judge returns the health of a pool with these figures, the last of whose samples is theirs.
func judge(st pool.Stats, samples history) health {
	now := samples[len(samples)-1]
	base := now // or what was refused before the last look, or before it became lately
	for i := len(samples) - 2; i >= 0 && (i == len(samples)-2 || now.taken.Sub(samples[i].taken) <= lately); i-- {
		base = samples[i]
	}
	for kind, advice := range [...]string{
		"removed slots wait for guards or Refs: unpin and release them, or raise the limit.",
		"every slot is in use: remove values, raise Capacity, or wait with InsertWait.",
		"every slot has used up its generations: make a new pool.",
	} {
		if n := now.refused[kind] - base.refused[kind]; n > 0 {
			return health{"red", fmt.Sprintf("Insertions were refused, %s of late, since %s", grouped(n), advice)}
		}
	}
	switch {
	case st.PinAge > states.OldPin.Load():
		return health{"amber", fmt.Sprintf("A guard has been pinned for at least %s, and no slot that was removed since is reused: "+
			"unpin it, or pin anew where no pointer is in use.", age(st.PinAge))}
	case st.Limbo > st.MaxLimbo/2 && (st.PinAge >= time.Second || st.Held > st.MaxLimbo/2):
		// Without these, most of what waits has passed, and the next insertions take it.
		return health{"amber", fmt.Sprintf("%s removed slots wait, and with %s insertions may be refused: "+
			"unpin guards and release Refs sooner.", grouped(st.Limbo), grouped(st.MaxLimbo))}
	}
	return health{}
}

// age formats how long a pin has lasted, or a call.
func age(d time.Duration) string {
	if d < time.Second {
		return "< 1s"
	}
	return d.Truncate(time.Second).String()
}
