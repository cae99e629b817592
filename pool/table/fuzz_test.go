package table_test

import (
	"testing"

	"coatcheck/internal/check/testkit"
)

// FuzzOps decodes bytes into the operations of TestOperationsMatchModel: the first byte
// chooses the kind of keys, each other one a choice.
func FuzzOps(f *testing.F) {
	testkit.FuzzChoices(f, len(kinds), 120, func(t *testing.T, which int, choose func(n int) int, more func() bool) {
		kinds[which%len(kinds)].run(t, choose, more)
	})
}
