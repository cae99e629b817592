package pool_test

import (
	"encoding/binary"
	"math"
	"reflect"
	"testing"

	"coatcheck/internal/check/testkit"
	"coatcheck/internal/check/verbs"
	"coatcheck/pool"
)

// FuzzOps decodes bytes into the operations of TestOperationsMatchModel: the
// first chooses the pool, every other one a choice.
func FuzzOps(f *testing.F) {
	testkit.FuzzChoices(f, len(modelConfigs(resetPlain)), 60, func(t *testing.T, which int, choose func(n int) int, more func() bool) {
		if which%2 == 0 {
			newMachine(t, plainKind, pick(modelConfigs(resetPlain), which/2), choose).runAll(more)
		} else {
			newMachine(t, boxedKind, pick(modelConfigs(resetBoxed), which/2), choose).runAll(more)
		}
	})
}

func pick[T any](all []pool.Options[T], i int) pool.Options[T] { return all[i%len(all)] }

// FuzzRawHandles shows any words to a pool as handles, in states that the input
// leads to as well. The model knows which of them live; the others must be
// refused by every verb and write nothing.
//
// The first byte chooses the pool. After it the last bit of a byte says what
// follows: an operation as in FuzzOps, or a raw handle, whose other bits choose
// the verb and how the word comes about. Origins are fixed, so that words in a
// corpus mean the same in each run.
func FuzzRawHandles(f *testing.F) {
	raw := func(how byte, word uint64) []byte {
		return binary.LittleEndian.AppendUint64([]byte{how<<1 | 1}, word)
	}
	insert := []byte{0, 0}
	for i := range len(rawConfigs(resetPlain)) {
		seed := []byte{byte(i)}
		for range 5 {
			seed = append(seed, insert...)
		}
		for _, word := range []uint64{0, 1, 1 << 32, 3<<32 | 1, 1<<32 | math.MaxUint32, math.MaxUint64, lastGeneration << 32, (lastGeneration + 1) << 32} {
			seed = append(seed, raw(byte(i), word)...)
		}
		f.Add(seed)
		// The neighbours of handles that were issued, after removals by each.
		seed = append([]byte{byte(i)}, insert...)
		for how := range 64 {
			seed = append(seed, raw(byte(64+how), uint64(how)<<8)...)
			seed = append(seed, insert...)
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) < 2 || len(in) > 4096 {
			return
		}
		if which := int(in[0]); which%2 == 0 {
			fuzzRawHandles(t, plainKind, pick(rawConfigs(resetPlain), which/2), in[1:])
		} else {
			fuzzRawHandles(t, boxedKind, pick(rawConfigs(resetBoxed), which/2), in[1:])
		}
	})
}

// rawConfigs are tiny pools whose first generation is known.
func rawConfigs[T any](reset func(*T)) (all []pool.Options[T]) {
	for _, o := range modelConfigs(reset) {
		if o.Origin == 0 {
			o.Origin = 1
		}
		if o.Shards == 1 && (o.Capacity == 0 || o.Capacity == 5 || o.Capacity == 80) {
			all = append(all, o)
		}
	}
	return all
}

func fuzzRawHandles[T any](t *testing.T, k kind[T], o pool.Options[T], in []byte) {
	next := func() (b byte) {
		if len(in) > 0 {
			b, in = in[0], in[1:]
		}
		return b
	}
	mc := newMachine(t, k, o, func(n int) int { return int(next()) % n })
	for len(in) > 0 {
		how := next()
		if how%2 == 0 {
			mc.step()
		} else {
			var word [8]byte
			in = in[copy(word[:], in):]
			mc.showRaw(int(how>>1), binary.LittleEndian.Uint64(word[:]))
		}
		mc.watch()
	}
	mc.runAll(func() bool { return false })
}

// showRaw shows a word to one verb. If how has the bit 64, the word is what
// makes a handle that was issued another one: the first byte chooses it, the
// others are added to its halves.
func (mc *machine[T]) showRaw(how int, word uint64) {
	h := pool.Handle[T](word)
	if how >= 64 && len(mc.known) > 0 {
		near := uint64(mc.known[int(word&0xFF)%len(mc.known)])
		index := uint32(near) + uint32(int8(word>>8))
		generation := uint32(near>>32) + uint32(int8(word>>16))
		h = pool.Handle[T](uint64(generation)<<32|uint64(index)) ^ pool.Handle[T](word>>24&1)<<(word>>32%64)
	}
	if mc.worker != nil && mc.opts.Capacity > 0 {
		mc.worker.Flush() // a bag that is full, which one slot does here, is turned whatever the handle
	}
	_, live := mc.live[h]
	var words []uint64
	var values []T
	var stats pool.Stats
	if !live {
		words, values = pool.Image(mc.p)
		stats = mc.p.Stats()
	}
	v := mc.rawVerb(how%64, h)
	if live {
		return
	}
	wordsAfter, valuesAfter := pool.Image(mc.p)
	statsAfter := mc.p.Stats()
	// A verb that pins may let the epoch advance, whatever the handle.
	statsAfter.Epoch, statsAfter.OldestPin = stats.Epoch, stats.OldestPin
	if !reflect.DeepEqual(words, wordsAfter) || !reflect.DeepEqual(values, valuesAfter) || stats != statsAfter {
		mc.Failf("%s with %v, which is not live, wrote: %x became %x, before: %+v", v, h, words, wordsAfter, stats)
	}
}

// rawVerb shows h to one of the verbs that take handles, and returns its name.
func (mc *machine[T]) rawVerb(which int, h pool.Handle[T]) string {
	var all []*verbs.Verb[T]
	for i := range mc.verbs {
		if mc.verbs[i].Needs&(verbs.Handle|verbs.Handles) != 0 {
			all = append(all, &mc.verbs[i])
		}
	}
	c := mc.of(all[which%len(all)], h)
	if c.Needs&verbs.Handles != 0 {
		c.Handles = append(c.Handles, ^h, h)
	}
	if c.Needs&verbs.Guard != 0 {
		c.Hold = &hold[T]{Guard: mc.p.Pin()}
		defer c.Hold.Guard.Unpin()
	}
	if mc.worker != nil && which >= 32 && c.Needs&verbs.Any != 0 {
		c.Via = mc.worker
	}
	c.Do()
	if c.Hold != nil && c.Needs&verbs.Guard == 0 {
		c.Hold.Ref.Release()
	}
	return c.String()
}
