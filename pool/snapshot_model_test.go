package pool_test

import (
	"bytes"
	"encoding/binary"
	"errors"

	"coatcheck/pool"
)

// snapshot judges a copy of the pool, and goes on with it now and then: whatever
// the model knows of the original then holds of the copy.
func (mc *machine[T]) snapshot() {
	var b bytes.Buffer
	if n, err := mc.p.WriteTo(&b); err != nil || n != int64(b.Len()) {
		mc.Failf("WriteTo: %d of %d, %v", n, b.Len(), err)
	}
	shift := uint32(mc.choose(4))
	c, err := pool.ReadTiny(&b, &mc.opts, shift)
	if err != nil {
		mc.Failf("ReadFrom: %v", err)
	}
	original := mc.p
	mc.p = c
	mc.inside++ // nothing may change
	mc.call("All", 0).Do()
	mc.inside--
	for _, h := range mc.known {
		v, ok := c.Get(h)
		mc.looked("Get of a copy", h, &v, ok)
	}
	st := c.Stats()
	if sum := st.Live + st.Free + st.Exhausted; sum != st.Allocated {
		mc.Failf("a copy has %d slots, and lists %d", st.Allocated, sum)
	}
	if len(mc.held)+len(mc.holds) > 0 || mc.worker != nil || mc.choose(4) > 0 {
		mc.p = original
		return
	}
	mc.cheap = nil // the original's
	mc.done["Snapshot"]++
}

var errForeign = errors.New("not a value of the model's")

func (v plain) MarshalBinary() ([]byte, error) { return binary.Append(nil, binary.BigEndian, v) }

func (v *plain) UnmarshalBinary(b []byte) error {
	if len(b) != 16 {
		return errForeign
	}
	v.id, v.twice = binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])
	return nil
}

func (v *boxed) MarshalBinary() ([]byte, error) {
	b := binary.BigEndian.AppendUint64(nil, v.id)
	if v.box != nil {
		b = binary.BigEndian.AppendUint64(b, *v.box)
	}
	return append(b, v.buf...), nil
}

func (v *boxed) UnmarshalBinary(b []byte) error {
	if len(b) < 16 {
		return errForeign
	}
	box := binary.BigEndian.Uint64(b[8:])
	*v = boxed{binary.BigEndian.Uint64(b), &box, bytes.Clone(b[16:])}
	return nil
}
