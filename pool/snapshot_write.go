package pool

import (
	"fmt"
	"io"
	"reflect"
	"slices"

	"coatcheck/pool/internal/codec"
	"coatcheck/pool/internal/snapshot"
	"coatcheck/shard/slots"
)

// WriteTo writes a snapshot to w, from which [ReadFrom] makes a pool with the same handles and
// values. Other goroutines may use the pool meanwhile, but must
// not change a live value or what it points to, unless its MarshalBinary method takes its mutex. A
// value that lives during the whole call is in the snapshot; one that comes or goes may be. A
// handle in a value never names another value in the copy.
//
// WriteTo encodes a value by its MarshalBinary method, or else by its parts, through pointers,
// without fields tagged `coatcheck:"-"`. The error wraps ErrType if values of T would lose
// something, as with unexported fields, channels, functions and interfaces.
func (p *Pool[T]) WriteTo(w io.Writer) (int64, error) {
	n, err := p.save(reflect.TypeFor[T](), w)
	if err != nil {
		err = snapshot.Named(err, nameOf[T]())
	}
	return n, err
}

// save is WriteTo of a pool of values of type t.
func (c *core) save(t reflect.Type, w io.Writer) (int64, error) {
	c.pages()
	values, d, err := codec.Of(t)
	if err != nil {
		return 0, err
	}
	sw := snapshotWriter{
		walker: newWalker(c), codec: values, Writer: snapshot.Writer{W: w},
		memory: snapshot.MemoryOf(c.arena.Size),
	}
	sw.sink = &sw
	err = sw.snapshot(d)
	return sw.Written, err
}

// snapshotWriter is one call of WriteTo.
type snapshotWriter struct {
	walker
	snapshot.Writer

	codec  codec.Codec
	values []byte // of the next record
	live   uint64 // values written

	memory snapshot.Memory // what the copy takes

	gap vacantRuns // what the next vacant record has
}

// snapshot writes the records in order.
func (sw *snapshotWriter) snapshot(d codec.Description) error {
	a := &sw.core.arena
	if err := sw.Header(&snapshot.Header{Description: d, Origin: a.Origin, Fresh: a.Table.FreshStage()}); err != nil {
		return err
	}
	total, err := sw.walk()
	if err != nil {
		return err
	}
	return sw.End(total, sw.live)
}

// block makes the record of up to limit slots from index first on, and returns how many it
// has: fewer if their values are large.
//
// It holds a pin from before the first load of a word to after the last read of a value. So each
// value is of the life that its word named (L3), even if it is removed meanwhile. In a pool that
// replays, it holds one slot after the other instead: a pin advances the epoch, which decides what
// is removed together, and so the order of reuse. A program that saves must issue the handles of
// one that does not.
func (sw *snapshotWriter) block(first uint32, limit uint64) (n uint64, err error) {
	if err := sw.endVacant(); err != nil {
		return 0, err
	}
	limit = min(limit, uint64(sw.core.pages().Beside(first, uint32(cap(sw.stages)))))
	if err := sw.Pay(sw.memory.Next(uint64(first), uint64(first)+limit)); err != nil {
		return 0, err
	}
	total, err := sw.pinned(first, limit)
	if err != nil {
		return 0, err
	}
	return uint64(total), sw.Flush()
}

// pinned makes the record of block.
func (sw *snapshotWriter) pinned(first uint32, limit uint64) (n int, err error) {
	if !sw.core.replays {
		pin := sw.core.domain.Pin()
		defer pin.Unpin() // also when the codec panics
	}
	t, o := sw.core.pages(), sw.core.arena.Table.Origins()
	total := sw.see(t, first, int(limit))
	sw.values = sw.values[:0]
	for n < total && len(sw.values) < snapshot.FlushBytes {
		if sw.stages[n]%2 == 1 {
			i := first + uint32(n)
			h := slots.Pack(o.Generation(i, sw.stages[n]), i)
			if sw.core.replays {
				err = sw.held(h, &sw.stages[n])
			} else {
				sw.values, err = sw.codec.Append(sw.values, sw.core.value(t.At(i)))
			}
			if err != nil {
				return n, fmt.Errorf("pool: WriteTo: value %s: %w", textOf(h), err)
			}
			sw.live += uint64(sw.stages[n] % 2)
		}
		n++
	}
	sw.looks = append(sw.looks, lookAt(sw.stages[:n]))
	sw.Begin(snapshot.Values, first, n)
	sw.Record = snapshot.AppendRuns(sw.Record, sw.stages[:n])
	sw.Record = append(sw.Record, sw.values...)
	return n, nil
}

// held appends the value of h, which was live, under a hold of its own. If
// that life is over, held notes its end in the slot's stage instead. To look for the slot's next value would have no end,
// if another goroutine goes on replacing it.
func (sw *snapshotWriter) held(h uint64, stage *uint32) (err error) {
	a := &sw.core.arena
	k, ok := a.Hold(h)
	if !ok {
		*stage++
		return nil
	}
	defer a.Drop(k) // also when the codec panics
	sw.values, err = sw.codec.Append(sw.values, sw.core.value(k.Slot()))
	return err
}

// changed writes the stages of a run that is not what it was. In the copy, a live slot
// keeps the value of the first look if that had the same stage; otherwise it is vacant.
// The record pays for its slots' part of the table, if they were handed out since the first look.
func (sw *snapshotWriter) changed(first uint32) error {
	if slices.ContainsFunc(sw.stages, sw.core.needsMemoryVacant) { // it may have grown too old since the first look, which did not pay then
		if err := sw.Pay(sw.memory.Again(uint64(first))); err != nil {
			return err
		}
	}
	sw.Begin(snapshot.Generations, first, len(sw.stages))
	sw.Record = snapshot.AppendRuns(sw.Record, sw.stages)
	return sw.Flush()
}

// skips writes which slots of a run skip lives at their next removal.
func (sw *snapshotWriter) skips(first uint32, lives []uint32) error {
	sw.Begin(snapshot.Skips, first, len(lives))
	sw.Record = snapshot.AppendRuns(sw.Record, lives)
	return sw.Flush()
}

// order writes the order of reuse. The copy has memory for slots behind handed, which Grow has made.
func (sw *snapshotWriter) order(order []byte, handed uint64) error {
	if err := sw.Pay(sw.memory.Next(max(handed, sw.core.arena.Table.FirstPage()), uint64(sw.core.pages().Limit))); err != nil {
		return err
	}
	for position := 0; position < len(order); position += snapshot.FlushBytes {
		sw.Begin(snapshot.Order, uint32(position/snapshot.FlushBytes), 0)
		sw.Record = append(sw.Record, order[position:min(position+snapshot.FlushBytes, len(order))]...)
		if err := sw.Flush(); err != nil {
			return err
		}
	}
	return nil
}
