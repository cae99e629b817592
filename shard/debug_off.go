//go:build !coatcheck_debug || interleave

package shard

import "coatcheck/shard/slots"

// quarantine is empty without the build tag coatcheck_debug (debug_on.go), and has no size.
type quarantine struct{}

func (*quarantine) isOpen() bool { return false }

func (*quarantine) exchange(*slots.Chain, *slots.Table) {}

func (*quarantine) take(*slots.Table) (*slots.Hook, uint64) { return nil, 0 }

func (*quarantine) takeAll(func(first uint32)) {}

func (*quarantine) size() int { return 0 }

// OpenQuarantine does nothing.
func OpenQuarantine(a *Arena) {}

func reclaimAtOnce(a *Arena) {}

func (b *backlog) reclaimsAtOnce() bool { return false }

func (m *Magazine) reclaimAtOnce() {}
