//go:build go1.25

package pooltest_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"coatcheck/pool"
)

// TestBubblesDoNotAnswerForGuardsFromOutside, whose times are those of another clock.
func TestBubblesDoNotAnswerForGuardsFromOutside(t *testing.T) {
	p := pool.Must(replay())
	g := p.Pin()
	defer g.Unpin()
	synctest.Test(t, func(t *testing.T) {
		r, end := begin("A", p)
		end()
		require.Empty(t, r.errors)
	})
}
