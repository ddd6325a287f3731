// This file decides whom an error of a visit concerns: the whole crawl, or one document.
//
// An error is ours if nothing else can be visited either: the disk, the file descriptors, the memory, a part that is
// closed. Such an error holds the crawl. Every other error comes back each time that the same document is processed,
// and only then: a record that cannot be composed, content that cannot be compared, a panic in a parser. It must not
// hold the crawl, so the URI bears it alone: the visit is settled as a misfortune.

package misfortune

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"slices"
	"syscall"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/panics"
	"github.com/arcrawl/arcrawl/warcout"
)

// Status is the status of a visit that could not be made because of a fault in processing. Heritrix has this number
// for serious errors.
const Status = -3000

// Kinds of faults in one document. Metrics and alarms contain them, so they never change.
const (
	KindError = "error" // an error that comes back with the same document
	KindPanic = "panic" // a panic of the program
	KindRules = "rules" // the scrubbing rules of a curator take too long
)

// Kinds returns every kind of fault in one document.
func Kinds() []string { return []string{KindError, KindPanic, KindRules} }

// ours are errors of the machine or of a closed part, in addition to errors of the operating system.
var ours = []error{
	context.Canceled, context.DeadlineExceeded, fs.ErrClosed, io.ErrShortWrite, io.ErrClosedPipe,
	fetch.ErrClosed, warcout.ErrClosed, frontier.ErrClosed,
}

// IsOurs reports whether an error concerns the whole crawl.
func IsOurs(err error) bool {
	if err == nil { // each visit asks several times
		return false
	}
	if errno := syscall.Errno(0); errors.As(err, &errno) {
		return true
	}
	return slices.ContainsFunc(ours, func(cause error) bool { return errors.Is(err, cause) })
}

// MayBeOfDocument reports whether a failed settlement may succeed without what its document brought. It returns false
// if the store is damaged or does not know the claim.
func MayBeOfDocument(err error) bool {
	return !IsOurs(err) && !errors.Is(err, frontier.ErrCorrupt) && !errors.Is(err, frontier.ErrStale)
}

// KindOf returns the kind of a fault in one document; "" without a fault.
func KindOf(err error) string {
	if err == nil { // each visit asks several times
		return ""
	}
	if p := (*panics.Error)(nil); errors.As(err, &p) {
		return KindPanic
	}
	if errors.Is(err, digest.ErrTooSlow) {
		return KindRules
	}
	return KindError
}

// Wait returns the wait of a URI whose document could not be processed failures times in a row. After a panic it is the
// longest of the ladder, because the same bytes would panic again.
func Wait(err error, failures int, ladder evaluators.Ladder) evaluators.Wait {
	kind := KindOf(err)
	if kind == KindPanic {
		failures = math.MaxInt32
	}
	return evaluators.Wait{
		Interval: ladder.Wait(failures), Evaluator: WaitRetry, Reason: "could not be processed: " + kind,
	}
}

// Log reports a document that could not be processed.
func Log(to zerolog.Logger, err error, uri string, status int) {
	if KindOf(err) == KindRules {
		to.Warn().Err(err).Str("uri", uri).Msg("comparing a page whole: its scrubbing rules take too long")
		return
	}
	line := to.Error().Err(err).Str("uri", uri).Int("status", status)
	if p := (*panics.Error)(nil); errors.As(err, &p) {
		line = line.Bytes("stack", p.Stack)
	}
	line.Msg("could not process a document: only its URI is affected; please report this fault of the program")
}
