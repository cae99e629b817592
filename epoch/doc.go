// Package epoch tells a writer when no reader can still see what the writer has unlinked.
//
// A lock-free structure unlinks a node while readers may still hold pointers to it. The node's
// memory must not be reused before the last of these readers is done. To count readers at each
// node would make every read a write. So a reader announces only that it reads, and since
// when: it pins the [Domain] and gets a [Guard]. A writer that retires a node notes the time
// too. It reuses the node once every pinned reader began later.
//
// Time is a counter, the epoch. In the order in which a user meets them:
//
//	g := domain.Pin()           // reader: from here on, nothing that it sees is reused …
//	node := head.Load()
//	g.Unpin()                   // … until here
//
//	unlink(node)                // writer: no goroutine can find the node any more
//	stamp := domain.Stamp()     // the epoch in which it went
//	if domain.Expired(stamp) {  // is its grace period over?
//		reuse(node)
//	}
//
// The stamp must be taken after the unlinking. One stamp serves all that was unlinked before it.
// Only the first Pin, and one that finds cells taken, may allocate. Only [Domain.Synchronize]
// waits. No goroutine runs in the background: the epoch advances when a reader pins after a writer
// has retired.
//
// A guard that is never unpinned keeps everything retired after it from being reused.
// [Domain.Scan] counts guards and returns the epoch of the oldest, and [Domain.Age] its age.
//
// The terms are those of C++26's rcu_domain and of crossbeam. DESIGN.md has the proof (L3), and the
// papers.
package epoch
