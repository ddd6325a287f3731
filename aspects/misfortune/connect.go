package misfortune

import (
	"time"

	"github.com/arcrawl/arcrawl/frontier"
)

const (
	// neverMetConnect is the connect timeout for hosts that never answered. Most of them do not exist.
	neverMetConnect = 5 * time.Second
	// patientEvery is how often such a host gets the configured timeout after all, in case it is only slow.
	patientEvery = 4
)

// ConnectTimeout returns the connect timeout of a visit. A host that never answered gets a short one, except at every
// fourth attempt.
func ConnectTimeout(c frontier.Claim, configured time.Duration) time.Duration {
	if !c.NeverAnswered || c.HostFailures%patientEvery == patientEvery-1 {
		return configured
	}
	return min(configured, neverMetConnect)
}
