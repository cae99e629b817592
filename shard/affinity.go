package shard

import (
	"slices"
	"unsafe"

	"coatcheck/internal/atom"
	"coatcheck/internal/hint"
)

// Affinity decides which shard a goroutine uses, and so how often goroutines contend for a word.
// Correctness does not depend on it, since every shard serves every slot.
//
// An arena begins with one shard, and with one bucket for all hints, which leads to it. When
// goroutines have met in a shard, a new shard takes half of its buckets. If it has only one, all
// buckets are cut in two first, as in extendible hashing (Fagin, Nievergelt, Pippenger and Strong,
// 1979):
//
//	hint  …0110 ──┐ low bits    bucket 00 ──▶ shard 0
//	              └───────────▶        01 ──▶ shard 1
//	                                   10 ──▶ shard 2, made when two met in shard 0
//	                                   11 ──▶ shard 1
//
// So a pool that one goroutine uses has one shard. When there are as many shards as there may be, a
// single bucket moves to another shard, as in cuckoo hashing, and all other goroutines stay. That
// ends, because a shard that has sent a bucket away waits for twice as many meetings before the
// next. The naive way makes shards for all processors, and where two goroutines meet, it deals all
// hints anew. An empty pool then takes 174 KiB on 64 processors, and a goroutine whose calls lie on
// both sides of the end of a block of stack uses two shards; and with 64 goroutines on 256 shards,
// some eight pairs meet in each deal.
//
// A slot has a home: the shard that took it last for an insertion. Wherever slots were removed, a
// reclaimer sends a batch of them to the home of the first. Slots of that batch whose home is a
// third shard stay here. That would be wrong where pages should stay near a processor (NUMA), or values have 32 KiB.
// The naive way leaves slots with the remover. The shard that runs out then
// takes them back one by one, neither shard has a batch to reclaim, and the slots of a cache line
// end up in several shards. On 16 processors that halved the speed of all insertions and removals.

// affinity leads from hints to shards, and has all shards. When shards are made and buckets move, the arena
// decides (start, spread, share).
//
// A goroutine loads mask before buckets or inserters, and split stores these before mask. So the array
// that it loads has at least as many buckets as mask says.
type affinity struct {
	// mask is how many buckets there are, a power of two, less one.
	//
	//	writers  deal, split, under verdicts.mu
	//	readers  Local
	//	moves    it only grows
	mask atom.Uint32

	insertsAtOnce bool   // inserters is buckets; set by init
	limit         uint16 // how many buckets split may make; set by init

	// buckets is the first of an array.
	//
	//	writers  setBuckets, under verdicts.mu
	//	readers  Local
	//	orders   the store publishes the entries (P9)
	buckets atom.Pointer[bucket]

	// inserters is buckets, for Insert alone, or nil where there is an OnInsert, as in a zero Arena. So
	// Insert need not ask for that (insertApart).
	//
	//	writers  setBuckets, under verdicts.mu
	//	readers  Insert
	//	orders   the store publishes the entries (P9)
	inserters atom.Pointer[bucket]

	// shardList has every shard, in the order in which they were made. Its array is never written again.
	//
	//	writers  deal, add, under verdicts.mu
	//	readers  every loop over shards
	//	orders   the store publishes the new shard (P9)
	shardList atom.Pointer[shards]
}

// bucket leads to the shard of the goroutines whose hints have its number in their low bits.
//
//	writers  deal, move, halve, split, under verdicts.mu
//	readers  Local
//	orders   the store publishes the shard (P9)
type bucket struct{ shard atom.Pointer[shard] }

// bucketShift leaves the 12 highest bits of a hint, which are the well-mixed ones, and
// mostBuckets is how many buckets these can tell apart.
const (
	bucketShift = 20
	mostBuckets = 1 << (32 - bucketShift)
)

// bucketOf returns bucket i of an array, which has more (unsafe register, U11).
func bucketOf(array *bucket, i uint32) *bucket {
	return (*bucket)(unsafe.Add(unsafe.Pointer(array), uintptr(i)*unsafe.Sizeof(bucket{})))
}

// Local returns the shard to which a hint leads: mostly one that no other running goroutine uses.
// It panics for a zero Arena.
//
// An operation takes its hint once, for its slow half too. Pool.Insert and Pool.Remove are
// inlined, and take the hint from their caller's frame; other operations take it from their own.
// The wrong version takes one in each function. If the end of a block of stack lies between the
// frames, insertions then always look into one shard, and fetch slots for another.
func (f *affinity) Local(h uint32) *shard {
	if mask, array := f.mask.Load(), f.buckets.Load(); array != nil { // observes (P9); in this order
		return bucketOf(array, h>>bucketShift&mask).shard.Load() // observes (P9)
	}
	panic(Zero)
}

// inserter is Local for Insert: it returns the buckets, and which of them is that of a frame's hint. They are nil
// where Insert must call OnInsert, and in a zero Arena.
func (f *affinity) inserter(frame uintptr) (array *bucket, i uint32) {
	i = f.mask.Load() & (hint.Of(frame) >> bucketShift) // before the array
	return f.inserters.Load(), i                        // observes (P9)
}

// init is called before the first shard is made. atOnce is false if there is an OnInsert. limit is how many buckets
// split may make.
func (f *affinity) init(atOnce bool, limit uint16) { f.insertsAtOnce, f.limit = atOnce, limit }

// shards returns all shards. Others may be made meanwhile, unless the caller holds verdicts.mu (I13).
func (f *affinity) shards() shards { return *f.shardList.Load() } // observes (P9)

// deal makes list all shards, in an arena that no other goroutine has, and deals the hints to them in
// equal parts: each gets at least so many buckets, unless it has all.
func (f *affinity) deal(list shards, perShard int) {
	f.shardList.Store(&list)
	k, n := 1, len(list)
	for k < perShard*n && n > 1 && k < mostBuckets {
		k *= 2
	}
	array := make([]bucket, k)
	for i := range array {
		array[i].shard.Store(list[i*n/k])
	}
	f.setBuckets(array)
	f.mask.Store(uint32(k - 1))
}

// setBuckets makes array the buckets. The caller then stores mask, if array is longer than the last one.
func (f *affinity) setBuckets(array []bucket) {
	f.buckets.Store(unsafe.SliceData(array)) // publishes (P9)
	if f.insertsAtOnce {
		f.inserters.Store(unsafe.SliceData(array)) // publishes (P9)
	}
}

// add makes s, which is new, one of all shards. The caller holds verdicts.mu.
//
// The wrong version adds a shard without verdicts.mu. A goroutine that holds the locks of all
// others and finds no slot would not look into this one, and refuse although it has some (L11).
func (f *affinity) add(s *shard) {
	list := append(slices.Clone(f.shards()), s)
	f.shardList.Store(&list) // publishes (P9)
}

// move makes the bucket of a hint lead to another shard. The caller holds verdicts.mu.
func (f *affinity) move(h uint32, target *shard) {
	bucketOf(f.buckets.Load(), h>>bucketShift&f.mask.Load()).shard.Store(target) // publishes (P9)
}

// halve makes the bucket of a hint, which leads to s, and half of the others of s lead to another shard.
// The caller holds verdicts.mu.
func (f *affinity) halve(h uint32, s, target *shard) {
	array, last := f.buckets.Load(), f.mask.Load()
	mine := h >> bucketShift & last
	k := f.bucketsOf(s, mine)
	for i := range last + 1 {
		if b := bucketOf(array, i); b.shard.Load() == s {
			if k%2 == 0 { // mine is one of these
				b.shard.Store(target) // publishes (P9)
			}
			k++
		}
	}
}

// hasOne reports whether s has a single bucket. The caller holds verdicts.mu.
func (f *affinity) hasOne(s *shard) bool { return f.bucketsOf(s, f.mask.Load()+1) == 1 }

// bucketsOf returns how many of the first n buckets lead to s. The caller holds verdicts.mu.
func (f *affinity) bucketsOf(s *shard, n uint32) (count int) {
	array := f.buckets.Load()
	for i := range n {
		if bucketOf(array, i).shard.Load() == s {
			count++
		}
	}
	return count
}

// split cuts each bucket in two. It reports false if there are as many as there may be. The caller holds
// verdicts.mu.
//
// The wrong version stores the mask first. A goroutine that finds the old array by it reads beyond
// its end.
func (f *affinity) split() bool {
	n := f.mask.Load() + 1
	if n >= uint32(f.limit) {
		return false
	}
	array, old := make([]bucket, 2*n), f.buckets.Load()
	for i := range array {
		array[i].shard.Store(bucketOf(old, uint32(i)&(n-1)).shard.Load())
	}
	f.setBuckets(array)
	f.mask.Store(2*n - 1)
	return true
}

// bytes returns the memory of the shards and the buckets.
func (f *affinity) bytes() int64 {
	return int64(len(*f.shardList.Load()))*int64(unsafe.Sizeof(shard{})) + int64(f.mask.Load()+1)*int64(unsafe.Sizeof(bucket{}))
}

// start makes the first n shards of an arena that no other goroutine has.
func (a *Arena) start(n int) {
	list := make(shards, n)
	for i := range list {
		list[i] = newShard(a, i)
	}
	a.affinity.deal(list, a.room().buckets)
}

// addShard makes one more shard. The caller holds verdicts.mu, and there are fewer than there may be.
func (a *Arena) addShard() *shard {
	s := newShard(a, len(a.shards()))
	a.affinity.add(s)
	return s
}

// contend notes that a goroutine met another at shard s: its compare-and-swap failed, or s was
// locked. If it came to s for another shard's slots, contend does nothing, since that says nothing
// about hints.
//
// The goroutine may have come to s from a frame in the block of stack above this one.
func (s *shard) contend() { s.contendAs(hint.Goroutine()) }

// contendAs is contend for the goroutine with hint h.
func (s *shard) contendAs(h uint32) {
	a := s.arena
	if a.Local(h) != s {
		if h += hint.Spread; a.Local(h) != s {
			return
		}
	}
	// Only at powers of two, so that buckets also come to rest where there are more goroutines than
	// shards.
	if m := s.misses.Add(1); m >= patience && m&(m-1) == 0 {
		a.spread(h, s)
	}
}

// spread moves the bucket of a hint away from shard s: with half of the others of s to a new shard,
// or alone to another one if no more may be made. If another goroutine holds verdicts.mu, it leaves
// that to a later call.
//
// The wrong version moves one bucket to a new shard. Goroutines that come later, with other hints,
// then mostly meet in the first shard: on 16 processors their pairs took 5 times as long.
func (a *Arena) spread(h uint32, s *shard) {
	if a.Config.Shards == 1 || !a.verdicts.mu.TryLock() {
		return
	}
	defer a.verdicts.mu.Unlock()
	if a.Local(h) != s {
		return // another call has moved it
	}
	if a.affinity.hasOne(s) && !a.affinity.split() {
		return
	}
	if n := len(a.shards()); n == a.Config.Shards {
		// Two goroutines that met in one of two shards, on two processors, took up to 418 ns of processor
		// time for an insertion and a removal without this, and take at most 67; among 8 to 64 goroutines
		// there, it wins nothing. Not s: a step of 1 to n-1.
		a.affinity.move(h, s.next(1+hint.Index(h*0x915F77F5, n-1))) // Steele and Vigna's multiplier
		return
	}
	a.affinity.halve(h, s, a.addShard())
}

// share returns a shard for a new magazine, which is open: one that it makes, if there are fewer shards than open
// magazines, and than there may be; or else each in turn.
//
// The wrong version makes a shard, and goes on with the turn. After magazines that were closed, that
// leads to a shard that another one has, and the new shard has none.
//
// It looks again when it has the lock. Others may have made shards meanwhile, or closed magazines.
func (a *Arena) share() *shard {
	tooFew := func() bool { return len(a.shards()) < min(a.magazines.count(), a.Config.Shards) }
	if tooFew() {
		a.verdicts.mu.Lock()
		defer a.verdicts.mu.Unlock()
		if tooFew() {
			return a.addShard()
		}
	}
	list := a.shards()
	return list[(a.magazines.dealt.Add(1)-1)%uint32(len(list))] // as an int it may be negative, on 32 bits
}

// home returns the shard that slot i, removed in s, goes home to: s itself if the slot has no
// home.
func (s *shard) home(i uint32) *shard {
	if number := s.arena.Table.Pages().Home(i); number > 0 {
		return s.arena.shards()[number-1]
	}
	return s
}

// setHome makes s the home of the slots from lo to hi-1, of which the caller owns one,
// and of their neighbours.
func (s *shard) setHome(lo, hi uint32) {
	s.arena.Table.Pages().SetHome(lo, hi, s.number+1)
}

// mayGoAhead reports whether s, which has no slots, may take slots that no shard has although others
// have some. Otherwise two shards with too few slots for a seal take from each other without end: on 16
// processors 64 goroutines made 100 million pairs a second without this, and make 240 million with it.
// With two batches a shard mostly needs no other for long; a burst needs as many as it is long. The bound is small and
// for the shard's whole life: where slots keep moving between shards, those that are used again are in
// the cache. How much the pool grows for this is bounded besides (roomAhead). If all slots were
// handed out, it reports false: to ask for more would take the table's lock each time.
func (s *shard) mayGoAhead() bool {
	return uintptr(s.ahead.Load()) < aheadBytes/s.arena.Size && s.arena.Table.Left() > 0
}
