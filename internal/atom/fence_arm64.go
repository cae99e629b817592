package atom

// FenceLoads returns when all earlier loads of the caller are done, so that later ones, and
// later stores, come after them. An atomic load does not do that: only what follows waits for it.
//
// It is assembly, which the compiler can neither leave out nor move a load past.
func FenceLoads()
