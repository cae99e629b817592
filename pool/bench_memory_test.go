package pool_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// churners are goroutines that insert and remove, eight values each, and note the
// longest that an insertion with a removal has taken.
type churners struct {
	stop    atomic.Bool
	longest atomic.Int64
	failed  atomic.Int64
	wg      sync.WaitGroup
}

func churning(p *pool.Pool[small], n int) *churners {
	c := new(churners)
	for range n {
		c.wg.Add(1)
		go func() {
			defer c.wg.Done()
			var hs [8]pool.Handle[small]
			for i := 0; !c.stop.Load(); i++ {
				start := time.Now()
				k := i % len(hs)
				p.Remove(hs[k])
				h, err := p.Insert(small{uint64(i), 1})
				if err != nil {
					c.failed.Add(1)
				}
				hs[k] = h
				if took := int64(time.Since(start)); took > c.longest.Load() {
					c.longest.Store(took)
				}
			}
			p.RemoveBatch(hs[:])
		}()
	}
	return c
}

// BenchmarkTrim trims after a peak of a million 16-byte values, of which a thousand
// survive or none, alone or beside eight goroutines that insert and remove. It reports the
// memory before and after, how long Trim took, and the longest that a churning
// goroutine took for an insertion and a removal, without Trim and with it. Where
// goroutines outnumber processors, that is mostly their turn to run.
func BenchmarkTrim(b *testing.B) {
	const peak, survivors = 1_000_000, 1_000
	for _, c := range []struct {
		left  string
		hands int
	}{{"none", 0}, {"none", 8}, {"clustered", 8}, {"scattered", 0}, {"scattered", 8}} {
		left, hands := c.left, c.hands
		b.Run(fmt.Sprintf("survivors=%s/goroutines=%d", left, hands), func(b *testing.B) {
			for b.Loop() {
				p := pool.Must[small](nil)
				c := churning(p, hands)
				hs := make([]pool.Handle[small], peak)
				for i := range hs {
					hs[i], _ = p.Insert(small{uint64(i), 1})
				}
				switch left {
				case "clustered":
					hs = hs[survivors:]
				case "scattered":
					r := rand.New(rand.NewPCG(1, 1))
					r.Shuffle(peak, func(i, j int) { hs[i], hs[j] = hs[j], hs[i] })
					hs = hs[survivors:]
				}
				p.RemoveBatch(hs)
				c.longest.Store(0)
				time.Sleep(20 * time.Millisecond)
				undisturbed := c.longest.Swap(0)
				before := p.Stats().Bytes
				start := time.Now()
				freed := p.Trim()
				took := time.Since(start)
				beside := c.longest.Load()
				c.stop.Store(true)
				c.wg.Wait()
				if c.failed.Load() > 0 {
					b.Fatalf("%d insertions failed", c.failed.Load())
				}
				b.ReportMetric(float64(took)/peak, "ns/slot")
				b.ReportMetric(float64(before)/1e6, "before-MB")
				b.ReportMetric(float64(before-freed)/1e6, "after-MB")
				b.ReportMetric(float64(undisturbed)/1e6, "longest-ms")
				b.ReportMetric(float64(beside)/1e6, "longest-beside-ms")
			}
		})
	}
}

// BenchmarkGrowthAfterTrim fills a pool of 8,000 pages, empties it, trims it, and
// fills it again. It reports how long either took, and their ratio: above 1, memory
// that comes back costs more than memory did at first.
func BenchmarkGrowthAfterTrim(b *testing.B) {
	type value = [2]uint64 // 64 KiB are 2,730 slots
	const slots = 8_000 * 1024
	hs := make([]pool.Handle[value], slots)
	fill := func(p *pool.Pool[value]) float64 {
		runtime.GC()
		return testkit.Timed(func() {
			for i := range hs {
				hs[i], _ = p.Insert(value{uint64(i)})
			}
		}) / 1e6
	}
	var first, again, ratios []float64
	for b.Loop() {
		fill(pool.Must[value](nil)) // so that the process has the memory
		p := pool.Must[value](nil)
		first = append(first, fill(p))
		p.RemoveBatch(hs)
		p.Trim()
		again = append(again, fill(p))
		ratios = append(ratios, again[len(again)-1]/first[len(first)-1])
	}
	b.ReportMetric(testkit.Median(first), "first-ms")
	b.ReportMetric(testkit.Median(again), "again-ms")
	b.ReportMetric(testkit.Median(ratios), "ratio")
}

// Snapshots against encoding/binary, which encodes a slice of as many values at once.

const snapshotValues = 100_000

// record16 is a value of 16 bytes that encoding/binary knows.
type record16 = [2]uint64

// snapshotted is a pool of values whose generations differ, and its snapshot.
func snapshotted(b *testing.B, churn bool) (*pool.Pool[record16], []byte, []record16) {
	p := pool.Must[record16](nil)
	vs := make([]record16, snapshotValues)
	hs := testkit.Fill(b, p, snapshotValues, func(i int) record16 { return record16{uint64(i), 1} })
	if churn {
		rnd := testkit.Rand(b)
		for range 3 {
			for i := range hs {
				if rnd.IntN(3) == 0 {
					p.Remove(hs[i])
					hs[i] = testkit.MustInsert(b, p, record16{uint64(i), 2})
				}
			}
		}
	}
	return p, snapshotOf(b, p), vs
}

func BenchmarkSnapshotWrite(b *testing.B) {
	for _, churn := range []bool{false, true} {
		b.Run(fmt.Sprintf("impl=pool/base=binary/values=%d/churned=%v", snapshotValues, churn), func(b *testing.B) {
			p, _, vs := snapshotted(b, churn)
			buf := make([]byte, 0, 16*len(vs))
			versus(b, times(func() {
				if _, err := p.WriteTo(io.Discard); err != nil {
					b.Fatal(err)
				}
			}), times(func() {
				raw, _ := binary.Append(buf, binary.LittleEndian, vs)
				sink.Add(uint64(len(raw)))
			}))
		})
	}
}

func BenchmarkSnapshotRead(b *testing.B) {
	for _, churn := range []bool{false, true} {
		b.Run(fmt.Sprintf("impl=pool/base=binary/values=%d/churned=%v", snapshotValues, churn), func(b *testing.B) {
			_, snapshot, vs := snapshotted(b, churn)
			raw, _ := binary.Append(nil, binary.LittleEndian, vs)
			versus(b, times(func() {
				if _, err := pool.ReadFrom[record16](bytes.NewReader(snapshot), nil); err != nil {
					b.Fatal(err)
				}
			}), times(func() {
				vs := make([]record16, len(vs)) // as ReadFrom must
				_, _ = binary.Decode(raw, binary.LittleEndian, vs)
			}))
		})
	}
}

// Values that go together with their owner, a connection say, though each may go before
// it. DeleteFunc finds them, and looks at every slot of the pool to do so. An owner that
// keeps a list of their handles needs no help to keep it right: the handle of a
// value that has gone is refused, so the list is put in order only when it is full.
//
// Where a value must leave its owner's list at once, or has owned values itself, the
// list is one of package tree.
func Example_owner() {
	p := pool.Must[string](nil)
	var alice, bob owner[string]
	coat := alice.insert(p, "coat")
	alice.insert(p, "hat")
	bob.insert(p, "umbrella")

	p.Remove(coat)              // by any goroutine, which need not know whose it was
	fmt.Println(alice.leave(p)) // how many there still were
	fmt.Println(p.Len())
	// Output:
	// 1
	// 1
}

// owner is used by one goroutine at a time. Its list has room for at most four times as
// many handles as lived together, and an insertion costs a look at one or two of them.
type owner[T any] struct{ values []pool.Handle[T] }

func (o *owner[T]) insert(p *pool.Pool[T], v T) pool.Handle[T] {
	if len(o.values) == cap(o.values) {
		o.values = slices.DeleteFunc(o.values, func(h pool.Handle[T]) bool { return !p.Contains(h) })
		o.values = slices.Grow(o.values, len(o.values)+1) // so that the next look at all is paid for
	}
	h, err := p.Insert(v)
	if err == nil {
		o.values = append(o.values, h)
	}
	return h
}

// leave removes o's values and returns how many there were.
func (o *owner[T]) leave(p *pool.Pool[T]) int {
	n := p.RemoveBatch(o.values)
	o.values = o.values[:0]
	return n
}

// An owner's list stays in proportion to what is live, and finds all of it.
func TestOwnersListStaysShort(t *testing.T) {
	p := tiny[int](t, nil)
	var o owner[int]
	var live []pool.Handle[int]
	for i := range 10_000 {
		live = append(live, o.insert(p, i))
		if len(live) > 100 {
			p.Remove(live[0])
			live = live[1:]
		}
	}
	other := testkit.MustInsert(t, p, 1)
	if c := cap(o.values); c > 4*101 {
		t.Errorf("the list of 100 values has room for %d", c)
	}
	if n := o.leave(p); n != 100 || p.Len() != 1 || !p.Contains(other) {
		t.Errorf("removed %d of 100, and %d are left of 1", n, p.Len())
	}
}
