// Package costs counts the engine's steps in drawn programs, and compares each call and their sum with
// the bounds that DESIGN.md states under Costs. It looks at no clock. Its tests need the build tag
// coatcheck_costs.
package costs
