package daemon

import "github.com/dgraph-io/badger/v4"

// Store returns the store of an open daemon.
func (d *Daemon) Store() *badger.DB { return d.parts.Frontier.DB() }
