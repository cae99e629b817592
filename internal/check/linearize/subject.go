package linearize

import (
	"coatcheck/internal/check/verbs"
	"coatcheck/pool"
)

// Subject is what is judged: a Pool, or a control that is known to be wrong.
type Subject = verbs.Subject[Value]

// Maker makes the subject of one history.
type Maker func(o *pool.Options[Value]) Subject

// Pool makes the real thing.
func Pool(o *pool.Options[Value]) Subject { return pool.Must(o) }
