package trace

import (
	"fmt"
	"strings"
	"time"
)

// Event is an operation that took place. The zero Event did not.
type Event struct {
	verb  string // what was done, as a participle: "inserted"
	when  time.Time
	stack *stack // nil: the garbage collector did it
}

// happened reports whether the event took place.
func (e Event) happened() bool { return !e.when.IsZero() }

// write appends what was done and when, and below it the stack. Each further line begins with indent.
func (e Event) write(b *strings.Builder, indent string) {
	fmt.Fprintf(b, "%s at %s (%v ago)", e.verb, e.when.Format("15:04:05.000000"), time.Since(e.when).Round(time.Microsecond))
	if e.stack == nil {
		b.WriteString(" by the garbage collector")
		return
	}
	b.WriteString(" by")
	e.stack.write(b, indent+"\t")
}

// Now returns a line that says what the caller did just now, and the stack below it.
func Now(verb string) string {
	var b strings.Builder
	e := Event{verb, time.Now(), callers()}
	b.WriteString("\n")
	e.write(&b, "")
	return b.String()
}
