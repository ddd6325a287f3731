package aspects

import (
	"time"

	"github.com/arcrawl/arcrawl/frontier"
)

// The statuses of a URI that was not fetched, in Heritrix's numbers.
const (
	StatusForbidden  = -9998 // robots.txt forbids it
	StatusOutOfScope = -5000
)

// Unreached is the reason of a URI that waits because its host's robots.txt cannot be fetched.
const Unreached = "robotsUnreachable"

// Admission says whether a claimed URI may be visited now. The zero value says that it may. At most one field is set.
type Admission struct {
	Refused   *Refusal
	Instead   *frontier.Claim // the claim is spent on this URI of the host, and the claimed one stays due
	RestUntil time.Time       // the whole host rests until then
	Again     time.Duration   // the slot rests for this time, and the URI stays due
}

// Refusal says why a URI that is due is not visited.
type Refusal struct {
	Status   int
	Wait     time.Duration
	Why      string // an annotation of crawl.log
	ByConfig bool   // another configuration may admit the URI, which then is due as it was
}
