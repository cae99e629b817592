package pool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"reflect"

	"coatcheck/pool/internal/codec"
	"coatcheck/pool/internal/snapshot"
	"coatcheck/shard/slots"
)

// ReadFrom makes a new pool from a snapshot that [Pool.WriteTo] wrote, with options as for [New].
// Handles that were live name the same values again; all others issued before are refused. It calls
// no OnInsert.
//
// With Origin 0, the pool also refuses handles issued since the snapshot; only in a slot that was
// reused 65,536 times or more may it accept one by chance. With Origin set, which must be the
// original's, the old pool and the new one issue the same handles: use one of them.
//
// T may have another name, but needs the same structure; if not, call [ReadFromFunc]. If the values
// exceed Capacity, the error wraps ErrFull. Otherwise it wraps ErrCorrupt, ErrVersion, ErrType or
// r's error. ReadFrom reads no byte beyond the snapshot. Of hostile input a byte makes at most 256
// bytes of slots, and two pages come on top.
func ReadFrom[T any](r io.Reader, opts *Options[T]) (*Pool[T], error) {
	pl, err := opts.plan()
	if err != nil {
		return nil, err
	}
	p := new(Pool[T])
	if err := p.restore(pl, r, asSaved(pl)); err != nil {
		return nil, snapshot.Named(err, nameOf[T]())
	}
	return p, nil
}

// ReadFromFunc is [ReadFrom] for values whose type has changed. It reads values of type Old, which
// needs the structure that the type had then, and stores what convert makes of each, under the same
// handle. WriteTo need not accept New.
//
// It calls convert for each value in turn, by index, with an Old of its own, which New may refer
// to. An error of convert ends it, wrapped in one with the handle. Of hostile input a byte makes at
// most 256 bytes of Olds too, and if New is larger, as many times more of slots.
func ReadFromFunc[Old, New any](r io.Reader, opts *Options[New], convert func(*Old) (New, error)) (*Pool[New], error) {
	pl, err := opts.plan()
	if err != nil {
		return nil, err
	}
	p := new(Pool[New])
	if err := p.restore(pl, r, converted(convert)); err != nil {
		return nil, snapshot.Named(err, nameOf[New]())
	}
	return p, nil
}

// saved is what a snapshot has values of.
type saved struct {
	typ  reflect.Type
	slot uintptr                       // the size of a slot for one
	make func(codec.Codec) codec.Codec // makes the codec of saved values one of the pool's values

	converted bool // each takes memory of its own, and becomes a value of the pool's type
}

// asSaved returns that a snapshot has values of the pool's type.
func asSaved(pl *plan) saved {
	return saved{typ: pl.value, slot: pl.layout.Size, make: func(values codec.Codec) codec.Codec { return values }}
}

// restore completes a zero core after pl and a snapshot. It refuses a generation that goes back, slots out of order
// and a wrong count, whatever the checksum says, and believes a length only as far as bytes come (package snapshot,
// memory.go).
//
// Nothing restores a pool that is there: its readers, forests and tables were told that handles are dead which it
// would accept then. A program swaps one pointer instead.
func (c *core) restore(pl *plan, r io.Reader, source saved) error {
	values, err := codec.Into(source.typ)
	if err != nil {
		return err
	}
	sr := snapshotReader{builder: builder{plan: pl, core: c}, source: source, r: r}
	sr.refuse = sr.corrupt
	if err := sr.header(values); err != nil {
		return err
	}
	sr.earn(snapshot.Granted + len(sr.record) + snapshot.SumBytes)
	if err := sr.records(); err != nil {
		return err
	}
	return sr.finish()
}

// snapshotReader is one call of ReadFrom.
type snapshotReader struct {
	builder
	source saved
	codec  codec.Codec
	asking *codec.Asking // what codec asks, or nil

	r      io.Reader
	offset int64  // where this record begins, in bytes
	sum    uint32 // of what was read, without checksums

	record []byte // this record, without its checksum
	stages []uint32

	// olds is for how many bytes of converted values the input has paid that none has taken. It is an account of
	// its own, because the writer paid for the slots in which these values were: what the pool's own slots take, by
	// pages and a Capacity that may be others, cannot make it too small.
	olds uint64

	again   uint64 // the next generations record begins there or later
	live    uint64 // values read
	skipped uint64 // the next skips record begins there or later
	orders  uint32 // order records read
}

// header reads the header, chooses the codec, and adapts the plan.
func (sr *snapshotReader) header(values codec.Target) error {
	err := sr.next(snapshot.MaxHeader, func() error {
		if string(sr.record[:len(snapshot.Magic)]) != snapshot.Magic {
			return sr.corrupt("no snapshot begins with %q", sr.record[:len(snapshot.Magic)])
		}
		if v := sr.field(2); v != snapshot.Version {
			return fmt.Errorf("%w: it is %d, known is %d", ErrVersion, v, snapshot.Version)
		}
		return nil
	})
	if err != nil {
		return err
	}
	var h snapshot.Header
	if !h.Parse(sr.record[snapshot.HeadBytes:]) {
		return sr.corrupt("the header makes no sense")
	}
	chosen, err := values.From(h.Description)
	if err != nil {
		return err
	}
	sr.asking, _ = chosen.(*codec.Asking)
	sr.codec = sr.source.make(chosen)
	return sr.begin(h.Origin, h.Fresh)
}

// states reads the stages at the beginning of the payload, and returns the rest of the payload.
func (sr *snapshotReader) states() ([]byte, error) {
	n := int(sr.field(2))
	var remaining []byte
	var ok bool
	sr.stages, remaining, ok = snapshot.ParseRuns(sr.record[snapshot.HeadBytes:], sr.stages, n)
	o := sr.core.arena.Table.Origins()
	for j := 0; ok && j < len(sr.stages); j++ {
		ok = sr.stages[j] <= o.SpentStage(sr.field(1)+uint32(j))
	}
	if !ok {
		return nil, sr.nonsense()
	}
	sr.see(sr.field(1), sr.stages)
	return remaining, nil
}

// nonsense returns the error for generations that cannot be read.
func (sr *snapshotReader) nonsense() error {
	return sr.corrupt("the generations of slots %d to %d make no sense", sr.field(1), uint64(sr.field(1))+uint64(sr.field(2))-1)
}

// values reads a values record.
func (sr *snapshotReader) values() error {
	remaining, err := sr.states()
	if err != nil {
		return err
	}
	if sr.asking != nil {
		live := 0
		for _, stage := range sr.stages {
			live += int(stage % 2)
		}
		if err := sr.asking.Expect(len(remaining), live); err != nil {
			return sr.corrupt("the values from slot %d on: %w", sr.field(1), err)
		}
	}
	a := &sr.core.arena
	o, first := a.Table.Origins(), uint64(sr.field(1))
	if known := min(sr.slots, sr.limit()); known > first && !sr.restorer.Occupy(first, known) {
		return sr.unpaid(first)
	}
	for j, stage := range sr.stages {
		i := sr.field(1) + uint32(j)
		h := slots.Pack(o.Generation(i, stage), i)
		if uint64(i) >= sr.limit() {
			if stage%2 == 1 {
				return sr.tooSmall("the value %s lies beyond its %d slots", textOf(h), sr.limit())
			}
			a.Outlive(i, stage, sr.jump)
			continue
		}
		if stage%2 == 1 {
			if sr.source.converted {
				if sr.olds < uint64(sr.source.slot) {
					return sr.unpaid(uint64(i))
				}
				sr.olds -= uint64(sr.source.slot)
			}
			if remaining, err = sr.codec.Decode(remaining, sr.core.value(a.Table.Pages().At(i))); err != nil {
				return sr.unreadable(h, err)
			}
			sr.live++
		}
		a.RestoreSlot(i, stage)
	}
	if len(remaining) > 0 {
		return sr.corrupt("%d bytes after the last value", len(remaining))
	}
	return nil
}

// vacant reads a vacant record, run by run: it may have more slots than there is memory.
func (sr *snapshotReader) vacant() error {
	b, first := sr.record[snapshot.HeadBytes:], uint64(sr.field(1))
	for end := first + uint64(sr.field(2)); first < end; {
		n, stage, remaining, ok := snapshot.ParseRun(b, end-first)
		if !ok || sr.core.arena.NeedsMemory(stage) {
			return sr.nonsense()
		}
		if !sr.vacate(first, first+n, stage) {
			return sr.unpaid(first)
		}
		b, first = remaining, first+n
	}
	if len(b) > 0 {
		return sr.corrupt("%d bytes after the last generation", len(b))
	}
	return nil
}

// unreadable returns the error for a value that the codec does not read.
func (sr *snapshotReader) unreadable(h uint64, err error) error {
	if refused := (conversionError{}); errors.As(err, &refused) || errors.Is(err, ErrType) {
		return fmt.Errorf("pool: ReadFrom: value %s: %w", textOf(h), err)
	}
	return sr.corrupt("value %s: %w", textOf(h), err)
}

// skips reads a skips record.
func (sr *snapshotReader) skips() error {
	first, n := sr.field(1), sr.field(2)
	lives, remaining, ok := snapshot.ParseRuns(sr.record[snapshot.HeadBytes:], sr.stages, int(n))
	if sr.stages = lives; !ok || len(remaining) > 0 {
		return sr.corrupt("what slots %d to %d skip makes no sense", first, uint64(first)+uint64(n)-1)
	}
	sr.skip(first, lives)
	sr.skipped = uint64(first) + uint64(n)
	return nil
}

// changed reads a generations record.
func (sr *snapshotReader) changed() error {
	seen := sr.slots
	remaining, err := sr.states()
	if err != nil {
		return err
	}
	if len(remaining) > 0 {
		return sr.corrupt("%d bytes after the last generation", len(remaining))
	}
	sr.again = uint64(sr.field(1)) + uint64(len(sr.stages))
	return sr.change(seen, sr.field(1), sr.stages)
}

// end reads the end record.
func (sr *snapshotReader) end() error {
	payload := sr.record[snapshot.HeadBytes:]
	if len(payload) != 8 {
		return sr.corrupt("an end of %d bytes", len(payload))
	}
	if n := binary.LittleEndian.Uint64(payload); n != sr.live {
		return sr.corrupt("the end tells of %d values, but there were %d", n, sr.live)
	}
	return nil
}
