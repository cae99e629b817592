package slots

// A slot's word says what the slot is, in 64 bits that change at once:
//
//	          63          32 31           0
//	         ┌──────────────┬──────────────┐
//	live     │ odd          │ own index    │   = the Handle that names it
//	vacant   │ even         │ link         │   the next slot of its list, or None
//	exhausted│ Spent        │ None         │   in no list
//	         └──────────────┴──────────────┘
//
// So a look-up is one load and one compare. That needs a rule: the word of a slot that is not
// live never has the slot's own index in its low half (I4). A list does not contain a slot
// twice, so no link points back. Memory that was never written would break the rule in slot 0,
// where zero equals the zero Handle; newPage stores None there.
//
// The generation only grows (I2): to the next odd number when the slot goes live, to the next
// even one when it is removed or abandoned.

const (
	// None is the link that ends a list.
	None = 1<<32 - 1

	// MaxSlots is the greatest number of slots, so that no index is None. The rest of the last
	// thousand is kept for marks of later versions.
	MaxSlots = 1<<32 - 1024

	// LastGeneration is the last live generation. One more would need a vacant generation to
	// which a wrapped counter returns.
	LastGeneration = 1<<32 - 3

	// Spent is the generation of an exhausted slot.
	Spent = LastGeneration + 1

	GenerationStep = 1 << 32

	// LastLife is the first word of the last generation.
	LastLife = LastGeneration << 32
)

// Pack makes a word from its halves.
func Pack(generation, low uint32) uint64 { return uint64(generation)<<32 | uint64(low) }

// Generation returns a word's high half.
func Generation(word uint64) uint32 { return uint32(word >> 32) }

// Low returns a word's low half: the index of a live slot or of a list's top, or the link of a
// vacant slot.
func Low(word uint64) uint32 { return uint32(word) }

// IsLive reports whether a slot's word has a live generation.
func IsLive(word uint64) bool { return word>>32&1 == 1 }

// Vacated returns the word that follows the live word h: the next generation, linked to next.
// A compare-and-swap from h to it ends a life. Success proves that this caller ended it, and
// makes it the slot's owner (I1). Failure means that another remover did, or that h was stale.
//
// The 1 carries from the full low half into the generation.
func Vacated(h uint64, next uint32) uint64 { return (h | None) + (1 + uint64(next)) }

// Reborn returns the handle of the slot's next life after h.
func Reborn(h uint64) uint64 { return h + 2*GenerationStep }
