package epoch

// A cell's word holds all that a pin says, so that one compare-and-swap claims
// it and one gives it back:
//
//	 63            16 15         2   1       0
//	┌────────────────┬────────────┬───────┬──────┐
//	│ epoch          │ sequence   │ brief │active│
//	└────────────────┴────────────┴───────┴──────┘
//
// active is 1 while a guard is pinned, and brief while that guard is one of
// PinBrief. The sequence counts the pins that the cell has seen, modulo 2^14:
// together with the epoch it tells this pin from all others, so that a second
// Unpin, or one through a copied Guard, finds another word and is noticed rather
// than ending somebody else's pin. (It would go unnoticed after exactly a multiple
// of 16,384 pins of one cell within one epoch.) The cells that are for brief pins
// alone do without a sequence; in every other cell each pin continues it.
const (
	kindBits     = 2
	sequenceBits = 14
	epochShift   = kindBits + sequenceBits

	active    = 1
	brief     = 2
	kindMask  = 1<<kindBits - 1
	countMask = 1<<epochShift - 1
)

// Limit is the last epoch: the 48 bits that a cell has for one. There advancing
// stops and nothing wraps; what is retired then is never reused. At a million
// advances a second that is nine years away.
const Limit = 1<<(64-epochShift) - 1

// claimed is the word that claims a cell which held idle, at epoch e, for a guard
// of a kind: active, or active|brief.
func claimed(idle, e, kind uint64) uint64 { return e<<epochShift | idle&countMask | kind }

// released is the word that a claimed cell is given back with. Adding 1 to a word
// whose kind is all ones clears the kind and carries into the sequence; what the
// sequence carries into the epoch does not matter, for an idle cell's epoch is not
// read.
func released(word uint64) uint64 { return (word | kindMask) + 1 }

func isActive(word uint64) bool  { return word&active != 0 }
func isBrief(word uint64) bool   { return word&brief != 0 }
func epochOf(word uint64) uint64 { return word >> epochShift }
