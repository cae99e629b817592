package dense_test

import (
	"testing"

	"coatcheck/internal/check/testkit"
)

// FuzzOps decodes bytes into the operations of TestOperationsMatchModel: the first
// chooses the store, every other one a choice.
func FuzzOps(f *testing.F) {
	testkit.FuzzChoices(f, 2*len(modelConfigs[plain]()), 120, func(t *testing.T, which int, choose func(n int) int, more func() bool) {
		if which%2 == 0 {
			configs := modelConfigs[plain]()
			newMachine(t, plainKind, configs[which/2%len(configs)], choose).runAll(more)
		} else {
			configs := modelConfigs[boxed]()
			newMachine(t, boxedKind, configs[which/2%len(configs)], choose).runAll(more)
		}
	})
}
