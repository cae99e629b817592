package codec

// Foreign runs f as if numbers lay in memory in the other order.
func Foreign(f func()) {
	littleEndian = !littleEndian
	defer func() { littleEndian = !littleEndian }()
	f()
}
