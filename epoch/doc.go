// Package epoch tells when no reader can be looking any more.
//
// A lock-free structure unlinks a node while readers may still hold pointers to
// it. The node's memory must not be used again before the last of them has
// gone, and the readers cannot be asked to count themselves in and out of every
// node: that would make each look a write. So readers announce only that they
// are looking at all (they pin the [Domain] and get a [Guard]), and when; a writer that
// retires a node notes the time as well, and reuses the node only when every
// reader that is still pinned began later.
//
// Time is a counter, the epoch. In the order in which a user meets them:
//
//	g := domain.Pin()          // reader: from here on, nothing that it sees is reused …
//	node := head.Load()
//	g.Unpin()                  // … until here
//
//	unlink(node)               // writer: nobody can find the node any more
//	tag := domain.Retire()     // when it went
//	if domain.Passed(tag) {    // its grace period is over?
//		reuse(node)
//	}
//
// The tag must be taken after the unlinking; one tag serves all that was
// unlinked before it. Nothing here allocates but a Pin that finds the cells
// taken, nothing waits but [Domain.Synchronize], and no goroutine runs in the
// background: the epoch advances because somebody retires.
//
// A guard that is never unpinned keeps everything retired after it from being
// reused, for ever. It cannot be helped, only seen: [Domain.Pinned] counts
// guards and tells how far back the oldest lies.
//
// The terms are those of C++26's rcu_domain and of crossbeam. The scheme is
// epoch-based reclamation (Fraser, 2004) with one cell a guard and a frontier
// that only grows, in place of three bags and a counter modulo three: see
// DESIGN.md for the proof (L3) and for what was rejected.
package epoch
