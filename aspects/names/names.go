// Package names keeps URIs out that are visited under another name.
package names

import (
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/uri"
)

// Refused begins the annotation of a URI that is visited under another name.
const Refused = "sameAs:"

// Aspect is the aspect.
type Aspect struct {
	// VisitedFor returns the URI that is visited instead of the URI of a visit; often they are the same.
	VisitedFor func(*aspects.Visit) (uri.URI, error)
	Wait       func(*aspects.Visit) time.Duration // until a URI that is refused is checked again
}

// Admit refuses a URI that is visited under another name.
func (a *Aspect) Admit(v *aspects.Visit) (aspects.Admission, error) {
	if v.IsPrerequisite() {
		return aspects.Admission{}, nil
	}
	visited, err := a.VisitedFor(v)
	if err != nil || visited == v.URI() {
		return aspects.Admission{}, err
	}
	return aspects.Admission{Refused: &aspects.Refusal{
		Status: aspects.StatusOutOfScope, Wait: a.Wait(v), Why: Refused + visited.String(), ByConfig: true,
	}}, nil
}
