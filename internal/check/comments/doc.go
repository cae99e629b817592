// Package comments has tests that read comments: a name in a comment must exist, and a
// function that a comment names as a writer or reader must mention the word. What the README
// says of importing the module is tried (use_test.go).
//
// A protocol word's comment names the functions that write and read it:
//
//	writers  Fresh, by compare-and-swap; Refill, under mu, when it is empty
//	readers  Fresh and Refill
//
// Such a line is a list of clauses, separated by semicolons. A clause begins with names,
// separated by commas or "and", up to the first of the words in qualifiers. The rest, and
// text in parentheses, is prose. A clause that begins with one of the words in roles is all
// prose. The line may continue below, indented further.
//
// Each name must be a function or method of the protocol's packages. It must mention the
// word, itself or through a function of its package that it calls. A comment is about its
// field and those right below that have no comment; above a type, it is about all of its
// fields.
package comments
