package daemon

import "github.com/dgraph-io/badger/v4"

// OpenAlone is openAlone.
var OpenAlone = openAlone

// Store returns the store of an open daemon.
func (d *Daemon) Store() *badger.DB { return d.parts.Frontier.DB() }
