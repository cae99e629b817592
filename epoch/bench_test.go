package epoch_test

import (
	"testing"

	"coatcheck/epoch"
)

func BenchmarkPinUnpin(b *testing.B) {
	d := epoch.New()
	for b.Loop() {
		g := d.Pin()
		g.Unpin()
	}
}

func BenchmarkPinBrief(b *testing.B) {
	d := epoch.New()
	for b.Loop() {
		g := d.PinBrief()
		g.Unpin()
	}
}

// BenchmarkPassed asks whether a grace period is over, which costs a scan.
func BenchmarkPassed(b *testing.B) {
	d := epoch.New()
	for b.Loop() {
		d.Passed(d.Retire())
	}
}
