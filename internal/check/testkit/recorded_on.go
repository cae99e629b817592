//go:build coatcheck_debug

package testkit

const recorded = true

// Quarantine is how many vacant slots a pool keeps from reuse under the tag coatcheck_debug, else 0.
const Quarantine = 1024

// ReuseOrigin is an Origin for a test to which it matters which slots are reused when: under the tag
// coatcheck_debug a pool with an Origin alone has the order of other builds.
const ReuseOrigin = 1
