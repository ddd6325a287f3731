package crawler

import (
	"net/http"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
)

// changedAt is when a page that was found changed says that it did, if its host's Last-Modified is believed and had another
// value before; zero otherwise.
func changedAt(v visit) time.Time {
	r, got := v.record(), v.capture
	before, now := r.Validators.LastModified, evaluators.ValidatorsOf(got.Header).LastModified
	switch {
	case v.verdict.State != evaluators.Changed, v.verdict.First, got.Status != http.StatusOK, !canVouch(r):
	case before == "", before == now, v.asked.filter.DecideBy == evaluators.Off, v.asked.filter.Doubted[evaluators.WitnessLastModified]:
	default:
		if at, ok := evaluators.ChangedAt(got.Header, got.Started); ok {
			return at
		}
	}
	return time.Time{}
}
