// Package explore has the tests that run package pool, and with it shard and epoch, under
// chosen schedules, one step at a time (see package interleave). They need the build tag
// interleave, which hooks the shared words and gives these tests a view of a pool's inside:
//
//	go test -tags interleave -run Interleave ./internal/check/explore
//
// A program is a few operations on two or three threads (program_test.go). A scenario is a
// program in the folder scenarios, whose schedules are searched to the end, as far as there is
// time. Other programs are drawn (draw_test.go) and run (explore_test.go). One that fails is
// made smaller (shrink_test.go) and printed as a scenario.
//
// Programs run in a world (world_test.go), in which an actor calls the verbs and a judge looks
// at their results. After each step the invariants are checked: that a slot is in one place
// (places_test.go), and the others (invariants_test.go). A refusal is compared with what was
// free meanwhile (refusal_test.go).
package explore
