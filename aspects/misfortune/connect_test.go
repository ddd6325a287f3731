package misfortune_test

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/frontier"
)

func TestConnectTimeoutIsShortForHostsThatNeverAnswered(t *testing.T) {
	t.Parallel()
	const long, short = 20 * time.Second, 5 * time.Second
	for failures, want := range []time.Duration{short, short, short, long, short, short, short, long} {
		if got := misfortune.ConnectTimeout(frontier.Claim{NeverAnswered: true, HostFailures: failures}, long); got != want {
			t.Errorf("after %d failures: %s, want %s", failures, got, want)
		}
	}
	if got := misfortune.ConnectTimeout(frontier.Claim{NeverAnswered: true}, time.Second); got != time.Second {
		t.Errorf("a timeout of a second became %s", got)
	}
	if got := misfortune.ConnectTimeout(frontier.Claim{}, long); got != long {
		t.Errorf("a host that answered before gets %s, want %s", got, long)
	}
}
