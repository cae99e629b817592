//go:build go1.25

package bubble_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/bubble"
)

func TestInside(t *testing.T) {
	outside := time.Now()
	require.False(t, bubble.Inside())
	require.False(t, bubble.Read(outside))
	synctest.Test(t, func(t *testing.T) {
		require.True(t, bubble.Inside())
		require.False(t, bubble.Read(outside))
		time.Sleep(time.Hour)
		require.True(t, bubble.Read(time.Now()))
	})
}
