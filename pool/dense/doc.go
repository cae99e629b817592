// Package dense keeps values contiguous, so that a loop over them is a loop over a slice.
// It names each value by a handle that stays valid when the value moves, and is refused once
// the value is gone.
//
// A pool's values never move, so removals leave holes, and a loop over a pool visits every
// slot. Entities of a simulation, particles and timers are looped over all the time and
// look each other up now and then. For these a [Store] adds one indirection to the look-up
// and closes the holes. It does not close them at once, because a value that may move at
// any moment is of no use to concurrent goroutines. Time is cut into phases instead.
//
//	s := dense.Must[Particle](nil)
//	for {
//		// A phase: any number of goroutines. Nothing moves.
//		for i := range s.Values() {
//			p := &s.Values()[i]
//			if p.age > limit {
//				s.Kill(s.Handles()[i])  // a mark; p is still there
//			}
//			if p.splits {
//				s.Create(child(p))      // has a handle now, is in Values after the Refresh
//			}
//		}
//		// Between phases: one goroutine, alone. The dead leave, the living close up,
//		// what was created joins.
//		s.Refresh()
//	}
//
// # In the order in which you will need them
//
// [Store.Create] and [Store.Kill] may be called by any number of goroutines during a
// phase, and so may [Store.Pointer], [Store.Get], [Store.Alive] and [Store.State]. A killed
// value stays where it is, to be read and written, until the Refresh. So all goroutines of a phase
// see the same values. [Store.CreateFunc] builds a value in its place, and [Store.DeleteFunc] kills
// those that a function chooses.
//
// [Store.Refresh] ends the phase. It costs O(dead + created + moved), and a load for each
// 4,096 values: what lies before the first dead one stays, and under [Options].Unordered no
// more values move than died. [Options].OnDestroy is called with each value before it goes.
//
// [Store.Values] and [Store.Handles] are plain slices, side by side; [Store.All] ranges
// over both. [Store.SortFunc] sorts them. [Store.OnMove] keeps other arrays beside them.
//
// A [Ptr] is a handle with its Store, for code that has no Store at hand.
//
// [Store.CreateAt] creates values under the handles of another store, as a client does that mirrors
// the values of its server.
//
// # States
//
//	         Create           Kill            Refresh
//	Unused ─────────▶ Alive ─────────▶ Dead ───────────▶ Unused (this handle stays so)
//
// A handle that is stale, zero, forged or another store's is Unused.
//
// # Memory model
//
// A goroutine that receives a handle sees all that was written before its Create returned, the value
// included. Refresh must happen after every call of the phase
// before it, and before every call of the next: wait for the phase's goroutines with a
// sync.WaitGroup, or synchronize by a channel. A call that overlaps a Refresh panics, unless it
// reads while OnDestroy runs: see [Store.Refresh]. Goroutines that share one *T, one of them writing,
// synchronize between themselves.
//
// # Snapshots and replays
//
// [Store.WriteTo] and [ReadFrom] keep handles. After a restart from an older snapshot, handles
// that were issued since are refused, because a copy begins a new line of them.
//
// With [Options].Origin, the same calls issue the same handles, in a copy as in the original, if
// values are created in the same order, as by one goroutine. Any number of goroutines may
// kill: marks have no order. Values have the same order as well, and so have the calls of OnDestroy
// and of functions of OnMove.
//
// # Memory
//
// A value costs its size and 16 bytes: 8 for its entry in Handles and 8 for the slot at
// its handle's index. Its mark takes one bit, and a bit more for every 64 values. A slot
// without a value waits for the next one, which takes 4 bytes. The arrays have spare room, as
// a slice has: until [Store.Trim] a store keeps what its fullest phase needed. See
// [Store.Grow] and [Store.Allocated].
//
// Handles have the pool's type. A handle of another store, or of a pool of the same T, is
// refused except about one in 2^30. No debug build can tell the two kinds apart, since
// nothing in a handle does.
//
// The structure is a sparse set: Values is its dense side, and the sparse side is hidden. The marks
// are two bitmaps that goroutines set concurrently, and from which Refresh reads the dead in order.
package dense
