// Package measure runs the cases of questions and writes their figures in Go's
// benchmark format.
//
// A shared machine slows down and recovers within seconds, so figures that were
// taken one after the other cannot be compared. The cases of a group are
// therefore open together and take turns: in each round every case has one turn
// of some milliseconds, and each round begins with another case. Round for round
// the figures were taken side by side; medians and spread over the rounds are
// what the report shows.
//
// A turn is timed from outside: the clock is read before and after some hundred
// thousand operations, and so are the heap's counters. How many operations make a
// turn is found out for each case when it is opened, which warms it up as well.
//
// The collector runs as users have it. Only what one case leaves behind is
// collected before the next case's turn, outside the clock, because that would pay
// for it otherwise. So a case pays for the collections that begin in its turns.
// Groups whose stores are big are not open together (suite.Group's Apart): beside
// the others' memory their garbage would hardly ever be collected.
package measure
