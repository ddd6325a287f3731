package frontier

import (
	"errors"
	"fmt"
)

// Errors of [Open].
var (
	// ErrLocked means that another process has opened the store.
	ErrLocked = errors.New("in use by another process")
	// ErrVersion means that this arcrawl does not know the format of the store.
	ErrVersion = errors.New("unknown format of the store")
	// ErrCorrupt means that the store is damaged. Any method that reads can return it.
	ErrCorrupt = errors.New("the frontier's store is damaged; stop, and restore its folder from a backup")
)

// Errors of an open frontier.
var (
	// ErrStale means that a claim has ended, or that another run made it.
	ErrStale = errors.New("claim is stale")
	// ErrClaimed means that a URI is being visited.
	ErrClaimed = errors.New("already claimed")
	// ErrCollision means that two URIs have the same fingerprint, or that damage to a record makes it look so.
	ErrCollision = errors.New("another URI has the same fingerprint")
	// ErrFull means that the disk has no space for the store. Nothing was changed, and the call may be repeated when there
	// is space again.
	ErrFull = errors.New("no disk space for the frontier's store")
	// ErrClosed means that the frontier is closed.
	ErrClosed = errors.New("frontier is closed")
	// ErrInvalid means that the caller asked for something that is not possible: with an unknown state or verb, or with a
	// cursor of another selection.
	ErrInvalid = errors.New("the selection or action is not valid")
)

// invalid is an error that is [ErrInvalid], with a text of its own.
type invalid struct{ error }

// Is reports whether the error is [ErrInvalid].
func (invalid) Is(target error) bool { return target == ErrInvalid }

func invalidf(format string, args ...any) error { return invalid{fmt.Errorf(format, args...)} }

// damaged returns an error that names the damaged key.
func damaged(key []byte, why error) error {
	return fmt.Errorf("%s: %w: %w", describeKey(key), why, ErrCorrupt)
}
