package lost

import "testing"

func looked(t *testing.T, p p, h h) {
	r, ok := p.Hold(h) // want `the Ref r is not ended`
	if !ok || r == nil {
		t.Fatal(r)
	}
	t.Log(r, ok)
}

func inTest(t *testing.T, p p, h h) {
	g := p.Pin()
	t.Cleanup(g.Unpin)
	r, ok := p.Hold(h)
	if !ok {
		t.Fatal("stale")
	}
	t.Cleanup(func() { r.Release() })
}

// A test may cancel all that it reserves.
func onlyCancels(p p) {
	if r, err := p.Reserve(); err == nil {
		r.Cancel()
	}
}
