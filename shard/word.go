package shard

// A slot's word says what the slot is, in 64 bits that change at once:
//
//	          63          32 31           0
//	         ┌──────────────┬──────────────┐
//	live     │ odd          │ own index    │   = the Handle that names it
//	vacant   │ even         │ link         │   the next slot of its list, or None
//	retired  │ Spent        │ link         │   generations used up; in no list for ever
//	         └──────────────┴──────────────┘
//
// So looking a handle up is one load and one compare. That is only right because
// the word of a slot that is not live never has the slot's own index in its low
// half (I4): a list does not contain a slot twice, so no link points back. The
// one word that would break the rule by itself is the zero of memory that was
// never written, in slot 0, where it would equal the zero Handle; the first page
// is born with None there.
//
// The generation only grows (I2): to the next odd number when the slot goes
// live, to the next even one when it is removed or given up.
const (
	// None is the link that ends a list.
	None = 1<<32 - 1

	// MaxSlots is the greatest number of slots, so that no index is None; the
	// rest of the last thousand is kept for marks of later versions.
	MaxSlots = 1<<32 - 1024

	// LastGeneration is the last one that lives. Another would have to be
	// followed by a vacant generation that a wrapped counter comes back to.
	LastGeneration = 1<<32 - 3

	// Spent is the generation of a slot that has used up all others.
	Spent = LastGeneration + 1

	generationStep = 1 << 32

	// lastLife is the first word of the last generation.
	lastLife = LastGeneration << 32
)

// Pack makes a word from its halves.
func Pack(generation, low uint32) uint64 { return uint64(generation)<<32 | uint64(low) }

// Generation returns a word's high half.
func Generation(word uint64) uint32 { return uint32(word >> 32) }

// Low returns a word's low half: the index of a live slot or of a list's top,
// the link of a vacant one.
func Low(word uint64) uint32 { return uint32(word) }

// IsLive tells a live slot's word from others by its generation.
func IsLive(word uint64) bool { return word>>32&1 == 1 }

// Vacated returns the word that follows the live word h: one generation on,
// linked to next.
func Vacated(h uint64, next uint32) uint64 {
	return h&^uint64(None) + generationStep | uint64(next)
}

// LastLife answers whether a slot that is live with h has no life after it.
func LastLife(h uint64) bool { return h >= lastLife }

// Reborn returns the handle of the slot's next life after that of h.
func Reborn(h uint64) uint64 { return h + 2*generationStep }
