// Package browser tests the page of package poolhttp in a browser. It is a module of its own, so
// that no other module requires the browser's driver.
//
//	go -C pool/internal/browser test -v -tags coatcheck_debug . # prints where the screenshots are
package browser
