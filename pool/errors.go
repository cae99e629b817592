package pool

import "coatcheck/shard"

var (
	// ErrFull says that there was a moment during the call at which no slot was free:
	// each was live, exhausted, or in the hands of a call under way, a Worker or a
	// Reservation. A slot may have come free since.
	ErrFull = shard.ErrFull

	// ErrStalled wraps ErrFull: at least one removed slot waits for a guard to
	// be unpinned, or a Ref to be released. See [Stats] for how old the oldest
	// guard is, and how many Refs there are.
	ErrStalled = shard.ErrStalled

	// ErrExhausted wraps ErrFull: every slot has used up its generations. It
	// stays that way.
	ErrExhausted = shard.ErrExhausted
)

// Texts of panics. They say what was done and what to do; they are constants so
// that the fast paths that panic can be put into their callers.
const (
	zeroPool     = shard.Zero
	unpinned     = "pool: use of a Guard that is not pinned (a zero Guard, or after Unpin); get one from Pin"
	unpinAgain   = "pool: Unpin of a guard that is not pinned (unpinned before, through a copy, or a zero Guard)"
	closedWorker = "pool: use of a Worker that is closed, or not from Pool.Worker"
	releasedRef  = "pool: use of a Ref after Release, or not from Pool.Hold"
	unsettled    = "pool: use of a Reservation after Commit or Cancel, or not from Pool.Reserve"
	zeroReserver = "pool: use of a zero Reserver; get one from Pool.Reserver"
)
