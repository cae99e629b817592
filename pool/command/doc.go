// Package command puts off the creation and the removal of a pool's values to
// one point, such as the end of a frame.
//
// While many goroutines work on the values of a pool, each finds out what
// should come and what should go. Done at once, half of them would see the
// change and half would not, loops would meet some of the newcomers, and a
// value would disappear under those who were about to look at it. So they only
// record what they want, in a [Buffer], and one call of [Apply] does all of it:
//
//	b := command.New(p)           // one for all goroutines, or one each
//	h, err := b.Insert(spark)     // the name at once; the value goes live in Apply
//	b.Remove(old)                 // nothing happens yet
//	…
//	inserted, removed := b.Apply()
//
// What may happen right now is better done by the pool itself, whose Insert
// costs a seventh of what recording one and its Apply do.
//
// # What happens when
//
// [Buffer.Insert] reserves a slot and writes the value there; that is the only
// copy which is made. The handle may be handed out, kept in other values and
// given to Remove at once. It is not live: Contains and Get answer false, loops
// do not meet it. The slot counts as Reserved in the pool's Stats and towards
// its Capacity, so a bounded pool needs room for what a frame inserts beside
// what the same frame removes; where there is none, Insert answers
// pool.ErrFull, and nothing is recorded.
//
// [Apply] takes, at one moment, all that is recorded in the buffers it is
// given; what is recorded from then on belongs to the next Apply. First the
// values of all insertions go live, in the order of the buffers given and in
// each in the order of recording. Then the removals are done, in the same
// order. So a frame may remove what it inserts, in whichever buffer either was
// recorded. Each value is a step of its own: others, who may use the pool all
// the while, see some of a frame's insertions before the last of them, and in
// that order.
//
// A removal counts if this Apply ended the value's life. One that is recorded
// twice counts once; one whose handle is stale, because others were faster or
// for any other reason, counts nothing and does no harm. So does one whose
// insertion is recorded in a buffer that this Apply was not given: give it all
// buffers of a frame. [ApplyFunc] also tells which values came and which went.
//
// # What is ordered before what
//
// Recording, Apply and Discard may be called by any number of goroutines at
// once, also from an Options.Reset that they cause to be called. A command is
// recorded when the call returns, and whoever learns of it later records later:
// if a Remove that is taken by an Apply was recorded after the Insert that gave
// its handle, that one is live by then, provided that the Apply was given both
// buffers. What was written to a value before Insert or InsertFunc returned is
// visible to all who find it live.
//
// # An order that does not depend on scheduling
//
// In a buffer that goroutines share, the order of recording is the order in
// which they happened to come. Where a run must be repeatable, give a Buffer to
// each piece of the work, rather than to each goroutine, and apply them in the
// order of the pieces: then values go live in the same order whoever did which
// piece. Which slots they have, and with them their handles, still depends on
// who came first.
//
// # Cost
//
// An insertion costs one Reserve of a pool.Reserver and its Commit, some 75 ns
// and 34 bytes, in three objects for each 63 insertions, where an insertion at once
// costs 11 ns: that is the price of getting the slot back if the Buffer is dropped. What
// the Buffer adds is lost in it. A removal costs 5 ns to record, 12 where two goroutines share the
// Buffer, and then what it costs the pool in a batch. A Buffer keeps the memory
// of its largest frame, eight bytes a command, and allocates nothing else.
//
// Three times the cost of an insertion at once is not to be had with what the pool
// promises of a Reservation. It is watched, counted and settled by itself: the slot's claim,
// the Reservation's number, its state twice, the count of open ones twice, and the Buffer's lock,
// which counts twice, are eight locked instructions, where an insertion at once has one. Four
// would do, 2.7 times in a trial, if the slots in a Buffer's list were one thing to the pool.
// But a slot is claimed before the Buffer's lock, for a Reset may run there, and record. So the
// pool would have to hand out slots that nobody watches, and one that is dropped would be lost.
// Slots that a pool.Worker keeps at hand would be out of others' reach while the Buffer is idle,
// and a small pool would be full too early.
//
// Create, destroy and playback of command buffers are Insert, Remove and Apply here.
// The idea is that of the command buffers of graphics interfaces and of the
// entity-component systems of games, where structural changes wait for a point
// at which nobody iterates. There the new entity often has no name before that
// point, or a provisional one, and a buffer that is thrown away leaks what it
// has reserved.
package command
