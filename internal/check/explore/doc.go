// Package explore has the tests that run package pool, and with it shard and epoch, under
// chosen schedules, one step at a time (see package interleave). They need the build tag
// interleave, which hooks the shared words and gives these tests a view of a pool's inside:
//
//	go test -tags interleave -run Interleave ./internal/check/explore
//
// A scenario is a program of a few operations on two or three threads. Its schedules are
// searched to the end, as far as there is time. The scenarios are in scenarios_*_test.go. Other
// programs are drawn (draw_test.go) and run (generated_test.go). One that fails is made smaller
// (shrink_test.go) and printed as the source of a scenario.
//
// Both run in a world (world_test.go), in which an actor calls the verbs and a judge looks at
// their results. After each step the invariants are checked: that a slot is in one place
// (places_test.go), and the others (invariants_test.go). A refusal is compared with what was
// free meanwhile (model_test.go).
package explore
