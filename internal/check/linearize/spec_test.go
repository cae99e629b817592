package linearize

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// did is an operation on one handle, of a thread of its own.
func did(e Effect, ok bool, call, ret int64) Record {
	return Record{Effect: e, OK: ok, Value: uint64(firstLive), Call: call, Return: ret}
}

// TestTimesDecide judges short lives whose verdict depends on which operations overlap.
func TestTimesDecide(t *testing.T) {
	for _, c := range []struct {
		name        string
		explainable bool
		life        []Record
	}{
		{"one of two removers wins", true, []Record{did(Insert, true, 1, 2), did(Remove, true, 3, 5), did(Remove, false, 4, 6)}},
		{"the one that returned later wins", true, []Record{did(Insert, true, 1, 2), did(Remove, false, 3, 5), did(Remove, true, 4, 6)}},
		{"the loser had returned before the winner came", false, []Record{did(Insert, true, 1, 2), did(Remove, false, 3, 4), did(Remove, true, 5, 6)}},
		{"both win", false, []Record{did(Insert, true, 1, 2), did(Remove, true, 3, 5), did(Remove, true, 4, 6)}},
		{"both lose", false, []Record{did(Insert, true, 1, 2), did(Remove, false, 3, 5), did(Remove, false, 4, 6)}},
		{"read beside the removal", true, []Record{did(Insert, true, 1, 2), did(Remove, true, 3, 6), did(Read, true, 4, 5)}},
		{"missed beside the removal", true, []Record{did(Insert, true, 1, 2), did(Remove, true, 3, 6), did(Read, false, 4, 5)}},
		{"read again after it was missed", false, []Record{did(Insert, true, 1, 2), did(Remove, true, 3, 10), did(Read, false, 4, 5), did(Read, true, 6, 7)}},
		{"read after the removal", false, []Record{did(Insert, true, 1, 2), did(Remove, true, 3, 4), did(Read, true, 5, 6)}},
		{"read beside the insertion", true, []Record{did(Insert, true, 1, 4), did(Read, true, 2, 3)}},
		{"read before the insertion", false, []Record{did(Read, true, 1, 2), did(Insert, true, 3, 4)}},
		{"removed before its insertion returned", true, []Record{did(Insert, true, 1, 4), did(Remove, true, 2, 3)}},
		{"missed after the insertion", false, []Record{did(Insert, true, 1, 2), did(Look, false, 3, 4)}},
		{"live while reserved", false, []Record{did(Reserve, true, 1, 2), did(Look, true, 3, 4), did(Commit, true, 5, 6)}},
		{"live beside Commit", true, []Record{did(Reserve, true, 1, 2), did(Look, true, 4, 5), did(Commit, true, 3, 6)}},
		{"live after it was given up", false, []Record{did(Reserve, true, 1, 2), did(Cancel, true, 3, 4), did(Look, true, 5, 6)}},
		{"reserved again", false, []Record{did(Reserve, true, 1, 2), did(Cancel, true, 3, 4), did(Reserve, true, 5, 6)}},
		{"swept", true, []Record{did(Insert, true, 1, 2), did(Sweep, true, 3, 4), did(Look, false, 5, 6)}},
		{"left by the sweep", false, []Record{did(Insert, true, 1, 2), did(Sweep, true, 3, 4), did(Look, true, 5, 6)}},
		{"inserted beside the sweep", true, []Record{did(Insert, true, 3, 4), did(Sweep, true, 1, 5), did(Look, true, 6, 7)}},
	} {
		p := part{handle: 1<<32 | 7}
		for i := range c.life {
			c.life[i].Thread = i
			p.records = append(p.records, &c.life[i])
		}
		assert.Equal(t, c.explainable, p.explain() == nil, c.name)
	}
}

// TestLoopsSpeakOfWhatTheyMissed judges loops that met nothing, by what lived
// beside them.
func TestLoopsSpeakOfWhatTheyMissed(t *testing.T) {
	for _, c := range []struct {
		name        string
		effect      Effect // of the loop, from 10 to 20
		explainable bool
		life        []Record
	}{
		{"live all the time", Look, false, []Record{did(Insert, true, 1, 2)}},
		{"came meanwhile", Look, true, []Record{did(Insert, true, 9, 12)}},
		{"came after the call", Look, true, []Record{did(Insert, true, 11, 12)}},
		{"went meanwhile", Look, true, []Record{did(Insert, true, 1, 2), did(Remove, true, 19, 25)}},
		{"went after the return", Look, false, []Record{did(Insert, true, 1, 2), did(Remove, true, 21, 25)}},
		{"had gone", Look, true, []Record{did(Insert, true, 1, 2), did(Remove, true, 3, 4)}},
		{"was reserved", Look, true, []Record{did(Reserve, true, 1, 2), did(Commit, true, 21, 22)}},
		{"cleared and gone", Sweep, true, []Record{did(Insert, true, 1, 2), did(Look, false, 21, 22)}},
		{"cleared and left", Sweep, false, []Record{did(Insert, true, 1, 2), did(Look, true, 21, 22)}},
		{"cleared while it came, and gone", Sweep, true, []Record{did(Insert, true, 19, 25), did(Look, false, 26, 27)}},
		{"cleared while it came, and left", Sweep, true, []Record{did(Insert, true, 19, 25), did(Look, true, 26, 27)}},
		{"gone, but cleared before it came", Sweep, false, []Record{did(Insert, true, 21, 25), did(Look, false, 26, 27)}},
	} {
		c1 := new(clock)
		loop, other := &log{thread: 0, clock: c1}, &log{thread: 1, clock: c1}
		loop.spans = []Span{{Verb: "loop", Effect: c.effect, Call: 10, Return: 20}}
		for _, r := range c.life {
			r.Thread, r.Handle = 1, 1<<32|7
			other.records = append(other.records, r)
		}
		parts := gather(Plan{}, []*log{loop, other}).parts()
		require.Len(t, parts, 1)
		assert.Equal(t, c.explainable, parts[0].explain() == nil, c.name)
	}
}

// TestCapacityBindsWhatIsSurelyLive counts lives that overlap, and those that may.
func TestCapacityBindsWhatIsSurelyLive(t *testing.T) {
	history := func(lives ...[]Record) *History {
		h := &History{Plan: Plan{Layout: Layout{Options: options{Capacity: 1, Origin: 1}}}}
		for i, life := range lives {
			for _, r := range life {
				r.Handle = Handle(2*i+1) << 32
				h.Records = append(h.Records, r)
				h.Published++
			}
		}
		h.Removed = h.Published
		return h
	}
	first := []Record{did(Insert, true, 1, 2), did(Remove, true, 5, 9)}
	assert.Error(t, history(first, []Record{did(Insert, true, 3, 4)}).count(), "both live at 4")
	assert.NoError(t, history(first, []Record{did(Insert, true, 3, 6)}).count(), "the first may have gone")
	assert.NoError(t, history(first, []Record{did(Insert, true, 10, 11)}).count(), "one after the other")
	assert.Error(t, history(first, []Record{did(Reserve, true, 1, 2), did(Commit, true, 3, 4)}).count(), "committed at 4")
	assert.NoError(t, history(first, []Record{did(Reserve, true, 1, 2), did(Commit, true, 10, 11)}).count(), "reserved is not live")
	assert.Error(t, history([]Record{did(Insert, true, 1, 2), did(Remove, false, 3, 4), did(Remove, true, 7, 8)},
		[]Record{did(Insert, true, 5, 6)}).count(), "a removal that failed ends nothing")
}

// TestMeetingsAreCounted counts pairs as the test's least amount of work does.
func TestMeetingsAreCounted(t *testing.T) {
	rs := []Record{
		did(Insert, true, 1, 4), // contended with the Look
		did(Look, false, 2, 3),
		did(Look, true, 5, 10), // a pair with the Read, and contended with the Remove
		did(Read, true, 6, 7),
		did(Remove, true, 8, 12), // and with the Look of a failed Remove
		did(Remove, false, 11, 13),
		did(Look, false, 1, 20), // a long call's
		did(Look, false, 14, 16),
		did(Look, false, 15, 17), // the same thread's
	}
	for i := range rs {
		rs[i].Thread, rs[i].Wide = i, i == 6
	}
	rs[8].Thread = 7
	parts := (&History{Records: rs}).parts()
	require.Len(t, parts, 1)
	pairs, contended := parts[0].overlaps()
	assert.Equal(t, 4, pairs)
	assert.Equal(t, 3, contended)
}
