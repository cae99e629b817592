package command_test

import (
	"testing"

	"coatcheck/internal/check/testkit"
)

// FuzzOps decodes bytes into the operations of TestOperationsMatchModel: the first byte
// chooses the pool, each other one a choice.
func FuzzOps(f *testing.F) {
	configs := machineConfigs()
	testkit.FuzzChoices(f, len(configs), 80, func(t *testing.T, which int, choose func(n int) int, more func() bool) {
		newMachine(t, configs[which%len(configs)], choose).run(more)
	})
}
