package cause_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/cause"
	"coatcheck/internal/check/testkit"
)

func TestOf(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, context.Canceled, cause.Of(ctx))

	why := errors.New("why")
	caused, cancelCause := context.WithCancelCause(t.Context())
	cancelCause(why)
	require.ErrorIs(t, cause.Of(caused), context.Canceled)
	require.ErrorIs(t, cause.Of(caused), why)
	require.EqualError(t, cause.Of(caused), "context canceled: why")

	wraps := fmt.Errorf("shutdown: %w", context.Canceled)
	caused, cancelCause = context.WithCancelCause(t.Context())
	cancelCause(wraps)
	require.Equal(t, wraps, cause.Of(caused), "it says both")

	late, end := context.WithDeadlineCause(t.Context(), time.Now(), why)
	defer end()
	testkit.Soon(t, late.Done())
	require.ErrorIs(t, cause.Of(late), context.DeadlineExceeded)
	require.ErrorIs(t, cause.Of(late), why)
}
