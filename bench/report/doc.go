// Package report turns figures in Go's benchmark format into what a person reads:
// a table for the terminal, one HTML file with charts, a comparison with an older
// file, and the tables of two README files and of docs/performance.md.
//
// It reads nothing but the format (and the questions' metadata, for titles and
// charts), so figures that another machine wrote can be reported here.
package report
