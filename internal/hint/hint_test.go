//go:build !interleave

package hint_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"coatcheck/internal/check/testkit"
	"coatcheck/internal/hint"
)

// All calls that one function makes have one hint, wherever its frame lies. A variable with a size
// has a place of its own in the frame, so that two may lie on both sides of the end of a block of
// stack.
func TestOneFunctionHasOneFrame(t *testing.T) {
	first, second := hint.Frame(), hint.Frame()
	assert.Equal(t, first, second)
	elsewhere := make(chan uintptr)
	go func() { elsewhere <- hint.Frame() }()
	assert.NotEqual(t, first, testkit.Soon(t, elsewhere), "another goroutine's")
}
