package dense

import "strconv"

// State is the state of the value that a handle names: Unused → Alive → Dead → Unused.
type State uint8

const (
	Unused State = iota // the handle names nothing: it is zero, stale, forged or another store's
	Alive               // created and not killed
	Dead                // killed, but still there until Refresh
)

// String returns "unused", "alive" or "dead".
func (st State) String() string {
	switch st {
	case Unused:
		return "unused"
	case Alive:
		return "alive"
	case Dead:
		return "dead"
	}
	return "State(" + strconv.Itoa(int(st)) + ")"
}
