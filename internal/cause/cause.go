// Package cause says why a context is done. Calls that wait return it, whichever package they are in.
package cause

import (
	"context"
	"errors"
	"fmt"
)

// Of returns the error of a ctx that is done. If ctx was given another cause, the error wraps both:
// who asks for context.Canceled finds it, and who cancelled with a cause finds that.
func Of(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}
