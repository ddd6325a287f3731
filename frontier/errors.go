package frontier

import (
	"errors"
	"fmt"
)

// What opening can end with.
var (
	// ErrLocked tells that another process has the store.
	ErrLocked = errors.New("in use by another process")
	// ErrVersion tells that the store was written by a newer arcrawl.
	ErrVersion = errors.New("written by a newer version of arcrawl")
	// ErrCorrupt tells that the store is damaged. Any method that reads can end with it.
	ErrCorrupt = errors.New("the frontier's store is damaged; stop, and restore its folder from a backup")
)

// What using can end with.
var (
	// ErrStale tells that a claim was ended before, or handed out by another run.
	ErrStale = errors.New("claim is stale")
	// ErrClaimed tells that a URI is being visited already.
	ErrClaimed = errors.New("already claimed")
	// ErrCollision tells that two URIs have one fingerprint, or that a record is damaged so that it looks like that.
	ErrCollision = errors.New("another URI has the same fingerprint")
	// ErrClosed tells that the frontier is closed.
	ErrClosed = errors.New("frontier is closed")
)

// damaged says which key is not as it should be.
func damaged(key []byte, why error) error {
	return fmt.Errorf("%s: %w: %w", describeKey(key), why, ErrCorrupt)
}
