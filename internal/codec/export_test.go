package codec

// Foreign runs f as on a platform with the other byte order.
func Foreign(f func()) {
	littleEndian = !littleEndian
	defer func() { littleEndian = !littleEndian }()
	f()
}
