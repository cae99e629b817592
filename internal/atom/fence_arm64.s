#include "textflag.h"

// func FenceLoads()
TEXT ·FenceLoads(SB), NOSPLIT|NOFRAME, $0-0
	DMB	$9 // ISHLD: what comes before are loads, what comes after is anything
	RET
