// Package report turns figures in Go's benchmark format into what a person reads:
// tables for the terminal and for Markdown files, and one HTML file with charts.
// benchstat, which reads the same format, compares one run with another.
//
// It reads nothing but the format (and the questions' metadata, for titles and
// charts), so figures that another machine wrote can be reported here.
package report
