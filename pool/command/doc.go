// Package command defers the creation and removal of a pool's values to one point, such
// as the end of a frame.
//
// While many goroutines work on the values of a pool, each decides what to create and
// what to remove. If that happened at once, half of them would see the change and half
// would not. Loops would visit some of the new values, and a value would disappear before
// a goroutine that was about to read it. So they only record their commands, in a
// [Buffer], and one call of [Apply] does all of them:
//
//	b := command.New(p)           // one for all goroutines, or one each
//	h, err := b.Insert(spark)     // the handle at once; the value goes live in Apply
//	b.Remove(old)                 // nothing happens yet
//	…
//	inserted, removed := b.Apply()
//
// If a change may happen at once, call the pool itself: its Insert costs a fraction of a recorded
// one with its Apply.
//
// # What happens when
//
// [Buffer.Insert] reserves a slot and copies the value into it, once. The handle may be
// handed out, kept in other values and given to Remove at once. It is not live: Contains
// and Get return false, and loops do not visit it. The slot counts as Reserved in the
// pool's Stats, and towards its Capacity. So a bounded pool needs room for the insertions
// of a frame in addition to the values that the frame removes. Without room Insert
// returns pool.ErrFull, and nothing is recorded.
//
// [Apply] takes, at one moment, everything recorded in its buffers; what is recorded from
// then on belongs to the next Apply. First the values of all insertions go live, in the
// order of the buffers given and in each in the order of recording. Then the removals are
// done, in the same order. So a frame may remove what it inserts, in any of its buffers.
// Each value is a step of its own: other users of the pool may see some of a frame's
// insertions before the rest, in that order.
//
// A removal counts if this Apply ended the value's life. One that is recorded twice
// counts once. One whose handle is stale has no effect, and nor has one whose insertion is
// recorded in a buffer that this Apply was not given: give it all buffers of a frame.
//
// [Buffer.Do] records a function, which has its place among the removals. It does what belongs to
// a command, such as linking a node into a forest of package tree.
//
// # What a frame does
//
// Before an Apply, [Buffer.Insertions] and [Buffer.Removals] tell which values will come and
// which may go; those that will come can be changed. [ApplyFunc] tells which have gone: it
// calls a function once for each value that it removed, with the value. The pool's OnInsert and OnRemove
// are called as by other verbs: OnInsert in Apply, and not in Insert, and OnRemove before the function.
// OnInsert may record, for the next Apply, but must not call one.
//
// # Memory model
//
// Recording, Apply and Discard may be called by any number of goroutines at once, also from
// functions that they call, such as an Options.Reset in Insert, or an OnRemove in Apply. A command is recorded before its call
// returns. So if an Apply is given the buffers of an Insert and of a later Remove of its handle,
// and takes the Remove, the value is live by then. A goroutine that finds a value live sees all that
// was written to it before Insert or InsertFunc returned.
//
// # An order that does not depend on scheduling
//
// In a buffer that goroutines share, the order of recording depends on scheduling. For a
// repeatable run, give a Buffer to each piece of the work, rather than to each goroutine,
// and apply them in the order of the pieces. Then values go live in the same order,
// whichever goroutine did which piece. Their slots, and so their handles, still depend on
// scheduling, because Insert takes a slot at once. If the handles must not, record functions that
// insert into the pool. Apply calls them in order, and the handles are known from then on:
//
//	b.Do(func() { h, err = p.Insert(spark) })
//
// # Cost
//
// An insertion costs one Reserve and its Commit, and 45 bytes, in four objects for each 63
// insertions. Most of that is the price of recovering the slot if the Buffer is dropped
// (DESIGN.md, Memory); recording adds little to it. A removal costs an append under a mutex, and
// then its part of a RemoveBatch. A Buffer keeps the memory of its largest frame, eight bytes a
// command, and sixteen a function; Apply allocates two small lists.
//
// Create, destroy and playback of an entity component system's command buffers are Insert, Remove
// and Apply here.
package command
