// Package report makes tables for the terminal and for Markdown files, and an HTML file
// with charts, of figures in Go's benchmark format.
//
// Titles and charts are those of the questions. All else is in the file, so another
// machine's figures can be reported.
package report
