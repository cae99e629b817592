// Package metrics is the root of a module for collectors that depend on other modules:
// poolprom for Prometheus, and poolotel for OpenTelemetry. Each is a package of its own,
// so that a program gets only the modules that it uses. Both report the pools that are
// registered with package poolhttp.
//
// Where go.mod has a replacement for the pool, it needs one for this module as well
// (docs/install.md).
package metrics
