// Package comments holds tests that read comments: what a comment names must exist,
// and do what the comment says of it. It has nothing to import.
//
// A protocol word's comment names the functions that write and read it:
//
//	writers  Fresh, by compare-and-swap; Refill, under mu, when it is empty
//	readers  Fresh and Refill
//
// Such a line is a list of clauses, with semicolons between them. A clause begins with
// names, with commas or "and" between them; the first of the words in qualifiers ends
// them, and what follows, or stands between parentheses, is prose. A clause that begins
// with one of the words in roles names nobody: it is all prose. The line may go on below,
// further to the right.
//
// Each name must be a function or method of the packages that carry the protocol. A writer
// must change the word, and a reader mention it, by itself or in a function that it calls
// in its package. A comment is about its field, and about those on the lines right below
// that have none of their own; above a type, about all fields of the type.
package comments
