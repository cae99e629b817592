// Package measure runs the cases of questions and writes their figures in Go's
// benchmark format.
//
// A shared machine slows down and recovers within seconds, so figures taken one after the
// other cannot be compared. The cases of a group are therefore open together and take
// turns: in each round every case has one turn of some milliseconds, and each round begins
// with another case. So the figures of one round were taken side by side.
//
// The clock and the heap's counters are read before and after a turn of some hundred
// thousand operations. Opening a case finds the number of operations of a turn, which
// also warms it up.
//
// GOGC is the default. The garbage of a turn is collected after it, outside the timed
// part, or the next case would pay for it. So a case pays for the collections that begin in its
// turns. Groups of big stores are not open together (suite.Group's Apart): beside the
// others' memory their garbage would hardly ever be collected.
package measure
