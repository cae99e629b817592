// Package metrics is the root of a module that has what brings other modules along:
// poolprom, a collector for Prometheus, and poolotel, instruments for OpenTelemetry. Each
// is a package of its own, so that neither brings the other's modules into a program.
// Both tell of the pools that were registered with package poolhttp, whose page is tested
// here in a browser:
//
//	go -C pool/metrics test -v -tags coatcheck_debug . # prints where the screenshots are
//
// A module that keeps a clone beside it says where this module is as well:
//
//	go mod edit -require coatcheck/pool/metrics@v0.0.0 -replace coatcheck/pool/metrics=../coatcheck/pool/metrics
package metrics
