package storm

import (
	"fmt"

	"go.uber.org/atomic"

	"coatcheck/pool"
)

// Coupon is the value of a tortured pool. It says itself which incarnation it
// is, so that nobody has to ask the pool, which is under suspicion.
//
// Its words are atomic: in a pool that reuses slots too early, somebody reads
// them while another writes, and that is to be found here and not by the race
// detector alone. They have 32 bits, because nothing aligns 64 in a pool's slot
// on 32-bit platforms.
type Coupon struct{ maker, number, check atomic.Uint32 }

// Handle is the handle of a Coupon.
type Handle = pool.Handle[Coupon]

// Stamp names one incarnation among all that a torture makes: who made it, and
// how many that goroutine had made before. The zero Stamp is nobody's.
type Stamp struct{ Maker, Number uint32 }

func (s Stamp) String() string { return fmt.Sprintf("%d#%d", s.Maker, s.Number) }

func (s Stamp) check() uint32 { return ^(s.Maker<<24 ^ s.Number) }

// Coupon returns a value with the stamp.
func (s Stamp) Coupon() (c Coupon) {
	c.Sign(s)
	return c
}

// Sign writes s into c. The caller owns c.
func (c *Coupon) Sign(s Stamp) {
	c.maker.Store(s.Maker)
	c.number.Store(s.Number)
	c.check.Store(s.check())
}

// Stamp reads who c is: the zero Stamp if c is not whole.
func (c *Coupon) Stamp() Stamp {
	s := Stamp{c.maker.Load(), c.number.Load()}
	if c.check.Load() != s.check() {
		return Stamp{}
	}
	return s
}
