// Package dense keeps values contiguous, so that a loop over them is a loop over a
// slice, and names each by a handle that stays good when values move and is
// refused for ever once its value is gone.
//
// A pool's values never move, so removals leave holes, and a loop over a pool looks
// at every slot. Entities of a simulation, particles, or timers are looped over all
// the time and look each other up now and then. For these a [Store] puts one
// indirection into the handle and closes the holes, but not at once: a value that
// moved at any moment would be of no use to many goroutines. Time is cut into
// phases instead.
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
// phase, and so may [Store.Get], [Store.Alive] and [Store.State]. A killed value
// stays where it is, to be read and written, until the Refresh; so a goroutine never
// finds half of a phase's values gone.
//
// [Store.Refresh] ends the phase. It costs O(dead + created + moved): what lies
// before the first dead value is not looked at, and under [Options].Unordered no
// more values move than died. [Options].OnDestroy sees each value before it goes.
//
// [Store.Values] and [Store.Handles] are plain slices, side by side; [Store.All]
// ranges over both.
//
// # States
//
//	         Create           Kill            Refresh
//	Unused ─────────▶ Alive ─────────▶ Dead ───────────▶ Unused (for this handle, for ever)
//
// A handle that is stale, zero, forged or another store's is Unused.
//
// # What is ordered before what
//
// What was written before Create returned, its value included, is visible to
// whoever gets the handle. Refresh must come after everything of the phase before
// it, and before everything of the next: wait for the phase's goroutines, as with a
// sync.WaitGroup, or hand over by a channel. A call that overlaps a Refresh is
// noticed, always, and panics: see [Store.Refresh]. Goroutines that share one *T, one
// of them writing, synchronize between themselves.
//
// # Memory
//
// A value costs its size and 16 bytes: 8 for its entry in Handles and 8 for the slot that
// its handle's index leads to; and one bit, and a bit in 63, for its mark. The arrays that
// these lie in have spare room, as a slice has: a store keeps what its fullest phase needed,
// until [Store.Trim]. See [Store.Reserve], and [Store.Allocated].
//
// A handle is a pool's type, and one of another store, or of a pool of the same T, is
// refused but for about one in 2^30. A [Ptr] has its store with it, and is a type of its own.
// No check tells the two kinds apart when a program is tested: nothing in a handle does, and
// a pool answers whatever it is given with false.
//
// The idea is that of handle managers in game engines, in which entities are marked
// as they die and a refresh partitions an array by state, so the words are theirs; and of
// sparse sets, which find the value behind a handle through one indirection: Values is
// the dense side, and the sparse one does not show. Here the marks are a tree
// of bits that many goroutines set at once, and from which Refresh reads the dead in
// order, so that nothing is sorted.
package dense
