// Package aspects holds what the crawler and its aspects share: the [Visit], and the forms of what an aspect does.
//
// The plain rule of the crawler is five lines: fetch, compare the digest, archive what is new, let the first matching
// wait evaluator say how long to wait, write the log line. Everything else is an aspect: a named reason why one visit
// is made, judged or scheduled otherwise. Each aspect is a folder here. It implements the steps that it needs:
//
//	Gate       may the URI be visited now?
//	Asker      what is sent otherwise?
//	Judge      what does the answer mean?
//	Reader     what does the content announce?
//	Decider    when is the next visit? Each decider signs what it changes, see [Next].
//	Learner    what is remembered of the host?
//	Annotator  what is said in crawl.log?
//
// The file order.go of package crawler lists all steps, and is the only place that says who is asked in which order. An
// aspect keeps what it knows of one visit in a type of its own, see [Of]. No aspect imports another, and none imports
// the crawler.
package aspects

import (
	"context"

	"github.com/arcrawl/arcrawl/config/schema"
)

// The forms of what an aspect does. Each is a method of the aspect.
type (
	// Gate says whether a URI that is due may be visited now. The first gate that does not admit it ends the walk.
	Gate func(*Visit) (Admission, error)
	// Asker changes the request of the visit before it is made.
	Asker func(*Visit) error
	// Judge says what the answer means. done ends the judging: the other judges are not asked.
	Judge func(context.Context, *Visit) (done bool, err error)
	// Reader says what the content announces, in the Found of the visit.
	Reader func(context.Context, *Visit) error
	// Decider changes when the URI is visited next, in the Next of the visit.
	Decider func(context.Context, *Visit) error
	// Learner stores what the visit says about the host.
	Learner func(*Visit) error
	// Annotator appends annotations of the visit's line in crawl.log.
	Annotator func(*Visit, []string) []string
)

// Options returns the options of an aspect that are in force for a visit. [OptionsOf] is one.
type Options[T any] func(*Visit) *T

// OptionsOf returns the options that the keys of an aspect fill, as they are in force for a visit. T is the type that
// its section has, see [schema.NewSection].
func OptionsOf[T any](v *Visit) *T { return schema.Find[T](v.Settings) }
