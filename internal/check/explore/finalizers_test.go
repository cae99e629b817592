//go:build interleave

package explore_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "coatcheck/pool"
)

// What a program opens and drops is never given back by the collector: its finalizer would run
// beside a thread of a later run, and be taken for that thread.
func TestInterleaveLeavesNoFinalizers(t *testing.T) {
	p := Must[val](nil)
	s := subject{p}
	s.Worker()
	_, err := s.Reserve()
	require.NoError(t, err)
	before := p.Stats()
	for range 3 { // a finalizer that waits in a queue may be behind this one
		ran := make(chan struct{})
		runtime.SetFinalizer(new([16]byte), func(*[16]byte) { close(ran) })
		runtime.GC()
		<-ran
	}
	assert.Equal(t, before, p.Stats())
}
