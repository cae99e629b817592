package atom

// A look-up that copies without a pin loads the slot's word w, the value v, and w again. The bad result is two looks that
// find the handle, and a copy with the value of a later owner. In these shapes the other side unlinks by a
// compare-and-swap, and the later owner stores the value and publishes it:
//
//	   reader                             unlinks, reuses                                       bad result
//	1  LDAR w; LDR v; LDAR w              LDAXR w; STLXR w; LDAR cell; STR v; STLR w            allowed
//	2  LDAR w; LDR v; DMB ISHLD; LDAR w   LDAXR w; STLXR w; STR v; STLR w                       allowed
//	3  as in 2                            LDAXR w; STLXR w; LDAR cell; STR v; STLR w            forbidden
//	4  as in 2                            LDAXR w; STLXR w; STLR list, and in another
//	                                      goroutine LDAR list; STR v; STLR w                    forbidden
//
// In 1 an acquire load holds back what follows it, and not the copy before it: hence the barrier. In 2 a plain store may
// overtake an exclusive one: but a scan lies between every unlinking and reuse (I8). A Worker that reuses its own slot
// is shape 3. If another goroutine scans or is the next owner, it has the slot by an atomic operation: shape 4.
//
// In 3 and 4 the bad result would be a cycle. The copy comes before the second look, by the barrier. The second look
// comes before the unlinking, since it finds the handle. The unlinking comes before the load of the cell or the store to
// the list, because a release comes before all later acquires and releases. These come before the owner's store of
// v, because all that is later waits for an acquire. And that comes before the copy, which read it.
//
// With ARMv8.1 the compare-and-swap is one instruction, CASAL, which is also release and acquire. Then 2 is forbidden too.

// FenceLoads returns when all earlier loads of the caller are done, so that later ones, and
// later stores, come after them. An atomic load does not do that: only what follows waits for it.
//
// It is assembly, which the compiler can neither leave out nor move a load past.
func FenceLoads()
