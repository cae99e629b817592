// Package cost counts the steps of the engine whose number may depend on what waits, on how many guards
// there are, and on how many slots there were. It counts under the build tag coatcheck_costs alone; otherwise
// its functions are empty, and are inlined. internal/check/costs has the bounds, and checks them.
package cost
