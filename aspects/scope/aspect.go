package scope

import (
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/uri"
)

// Refused is the annotation of a URI that is out of scope.
const Refused = "outOfScope"

// Aspect keeps URIs out that the scope of their seed does not accept any more.
type Aspect struct {
	Of   func(*aspects.Visit) *Scope        // returns the scope of the visit's seed
	Wait func(*aspects.Visit) time.Duration // until a URI that is refused is checked again
}

// Admit refuses a URI that is out of scope.
func (a *Aspect) Admit(v *aspects.Visit) (aspects.Admission, error) {
	r := v.Record()
	if v.IsPrerequisite() || a.Of(v).Accepts(Discovery{URI: r.URI, Hops: r.Hops, Via: uri.FromCanonical(r.Via)}) {
		return aspects.Admission{}, nil
	}
	return aspects.Admission{Refused: &aspects.Refusal{
		Status: aspects.StatusOutOfScope, Wait: a.Wait(v), Why: Refused, ByConfig: true,
	}}, nil
}
