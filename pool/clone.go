package pool

import (
	"fmt"

	"coatcheck/internal/atom"
	"coatcheck/pool/internal/snapshot"
	"coatcheck/shard/slots"
)

// Clone returns a new pool with the same values under the same handles, with options as for [New].
// Origin must be 0 or the original's. With Origin 0, neither pool accepts a handle that the other
// issues from then on, but as [ReadFrom] says. With Origin set, both issue and accept equal
// handles.
//
// Clone calls copy once for each value, with dst at a zero T. nil stands for *dst = *src; what
// values point to is then shared. copy may use the original, but must not wait for it to reclaim.
// If it panics, the panic continues, and the original is as it was. Clone calls no OnInsert.
//
// Other goroutines may use the original meanwhile, but must not change a live value without a mutex
// that copy locks. A value that comes or goes meanwhile may be in the clone. A handle in a value
// never names another value there.
//
// The error wraps ErrFull if the values exceed Capacity, or says which option is invalid. Clone
// takes time and memory in proportion to the slots that have memory, and allocates pages alone.
func (p *Pool[T]) Clone(opts *Options[T], copy func(dst, src *T)) (*Pool[T], error) {
	p.pages()
	pl, err := opts.plan()
	if err != nil {
		return nil, err
	}
	if debugging && copy == nil {
		warnOfCopy[T]()
	}
	q := new(Pool[T])
	if err := q.clone(&p.core, pl, copierOf(copy)); err != nil {
		return nil, snapshot.Named(err, nameOf[T]())
	}
	return q, nil
}

// copier copies the values of slots of a pool to those of another.
type copier struct {
	// values copies those with odd stages, of the slots from index first on.
	values func(copies, originals *slots.PageTable, first uint32, stages []uint32)

	slot  func(dst, src *slots.Hook)
	plain bool // it calls no user's function
}

func copierOf[T any](copy func(dst, src *T)) copier {
	plain := copy == nil
	slot := func(dst, src *slots.Hook) {
		if plain {
			*slots.ValueOf[T](dst) = *slots.ValueOf[T](src)
		} else {
			copy(slots.ValueOf[T](dst), slots.ValueOf[T](src))
		}
	}
	return copier{
		values: func(copies, originals *slots.PageTable, first uint32, stages []uint32) {
			for len(stages) > 0 {
				end := first + uint32(len(stages))
				_, dst := slots.Block[T](copies, first, end)
				_, src := slots.Block[T](originals, first, end)
				n := min(len(dst), len(src))
				for j := range n {
					switch {
					case stages[j]%2 == 0:
					case plain:
						dst[j].Value = src[j].Value
					default:
						copy(&dst[j].Value, &src[j].Value)
					}
				}
				first, stages = first+uint32(n), stages[n:]
			}
		},
		slot: slot, plain: plain,
	}
}

// clone completes a zero core after pl and an original.
func (c *core) clone(original *core, pl *plan, copies copier) error {
	k := cloner{walker: newWalker(original), builder: builder{plan: pl, core: c, refuse: fmt.Errorf}, copies: copies}
	k.sink = &k
	if err := k.begin(original.arena.Origin, original.arena.Table.FreshStage()); err != nil {
		return err
	}
	k.restorer.Earn(1 << 62) // nothing is hostile
	if _, err := k.walk(); err != nil {
		return err
	}
	return k.finish()
}

// cloner is one call of Clone. It hands what the walker finds to the builder.
type cloner struct {
	walker
	builder
	copies copier
	gap    run // the next vacant slots
}

// run is slots at one stage.
type run struct {
	first, end uint64
	stage      uint32
}

// block copies the values of a run of slots, and brings these to their stages.
//
// As WriteTo, it pins the pool meanwhile, unless that replays. There it holds each value for the user's
// function. Without one it copies as Get does, and the copy of a life that ends meanwhile may be torn. The second
// look finds a later generation in its slot (I2), and so the slot is vacant in the clone, and zero. The naive copy
// looks at the words right behind the values too, as Get does: whatever that finds, the second look finds.
func (k *cloner) block(first uint32, limit uint64) (uint64, error) {
	k.vacated()
	original := k.walker.core
	if !original.replays {
		pin := original.domain.Pin()
		defer pin.Unpin() // also when the user's function panics
	}
	t := original.pages()
	n := k.walker.see(t, first, int(min(limit, uint64(cap(k.stages)))))
	k.looks = append(k.looks, lookAt(k.stages))
	k.builder.see(first, k.stages)
	known := int(min(uint64(n), max(k.limit(), uint64(first))-uint64(first)))
	if err := k.outside(first, known); err != nil {
		return 0, err
	}
	if known == 0 {
		return uint64(n), nil
	}
	k.restorer.Occupy(uint64(first), uint64(first)+uint64(known))
	arena := &k.builder.core.arena
	switch seen := k.stages[:known]; {
	case !hasLive(seen):
	case original.replays && !(k.copies.plain && atom.CopiesWithoutPin):
		k.held(first, seen)
	default:
		k.copies.values(arena.Table.Pages(), t, first, seen)
		atom.FenceLoads() // the second look comes after all loads of the values
	}
	k.restorer.RestoreSlots(first, k.stages[:known])
	return uint64(n), nil
}

// hasLive reports whether a slot is live.
func hasLive(stages []uint32) bool {
	odd := uint32(0)
	for _, stage := range stages {
		odd |= stage
	}
	return odd%2 == 1
}

// outside gets the slots behind known, which the clone leaves out.
func (k *cloner) outside(first uint32, known int) error {
	for j, stage := range k.stages[known:] {
		i := first + uint32(known+j)
		if stage%2 == 1 {
			return k.tooSmall("the value %s lies beyond its %d slots", textOf(k.handle(i, stage)), k.limit())
		}
		k.builder.core.arena.Outlive(i, stage, k.jump)
	}
	return nil
}

// handle returns the handle of slot i at a stage of the original.
func (k *cloner) handle(i, stage uint32) uint64 {
	return slots.Pack(k.walker.core.arena.Table.Origins().Generation(i, stage), i)
}

// held copies each value under a hold of its own. Of a life that is over it copies nothing: the second look
// ends it in the clone too.
func (k *cloner) held(first uint32, stages []uint32) {
	for j, stage := range stages {
		if stage%2 == 1 {
			k.hold(k.handle(first+uint32(j), stage))
		}
	}
}

// hold copies the value that h names under a hold, if it is live.
func (k *cloner) hold(h uint64) {
	original := &k.walker.core.arena
	held, ok := original.Hold(h)
	if !ok {
		return
	}
	defer original.Drop(held) // also when the user's function panics
	k.copies.slot(k.builder.core.arena.Table.Slot(slots.Low(h)), held.Slot())
}

func (k *cloner) addVacant(first, n, stage uint32) error {
	if k.gap.stage != stage || k.gap.end != uint64(first) {
		k.vacated()
		k.gap = run{uint64(first), uint64(first), stage}
	}
	k.gap.end += uint64(n)
	return nil
}

func (k *cloner) endVacant() error {
	k.vacated()
	return nil
}

// vacated hands the vacant slots since the last others to the builder. All of them are paid for.
func (k *cloner) vacated() {
	if gap := k.gap; gap.first < gap.end {
		k.vacate(gap.first, gap.end, gap.stage)
	}
	k.gap = run{}
}

func (k *cloner) skips(first uint32, lives []uint32) error {
	k.skip(first, lives)
	return nil
}

func (k *cloner) order(order []byte, _ uint64) error {
	if k.plan.replays {
		k.reuse = order
	}
	return nil
}

func (k *cloner) changed(first uint32) error {
	seen := k.slots
	k.builder.see(first, k.stages)
	return k.change(seen, first, k.stages)
}
