//go:build coatcheck_debug && !interleave

package pooltest

import (
	"fmt"
	"strings"

	"coatcheck/pool"
	"coatcheck/pool/internal/trace"
)

// stacks says whether pools record who did what.
const stacks = true

// youngest returns the number of what was opened last in p, and opened that in any pool.
func youngest[T any](p *pool.Pool[T]) uint64 { return trace.Youngest(p) }

func opened() uint64 { return trace.Opened() }

// written returns a text about values of p that were written to after they had been removed, through pointers that
// were kept too long, or "". It tells of each write once.
func written[T any](p *pool.Pool[T]) string {
	texts := trace.Written(p)
	if len(texts) == 0 {
		return ""
	}
	return fmt.Sprintf("pooltest: %T has values that were written to too late\n%s", p, strings.Join(texts, "\n"))
}
