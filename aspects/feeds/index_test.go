package feeds

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
)

// A front page is read once a day, and notes on it differ each time. Of a page that is visited each hour anyway, its
// word proves nothing.
func TestAPageThatWasVisitedOftenSinceProvesLittle(t *testing.T) {
	t.Parallel()
	var page frontier.Record
	page.Wait, page.Rate, page.LastCapture = time.Hour, 11, start
	var once, often indexReading
	once.check(&page, start.Add(-time.Minute), true)
	often.check(&page, start.Add(-23*time.Hour), true)
	if got := once.said[0].expected; got > 0.5 {
		t.Errorf("a visit right after the reading was expected to find a change with a probability of %.2f", got)
	}
	if got := often.said[0].expected; got < 0.99 {
		t.Errorf("one of 24 visits was expected to find a change with a probability of %.2f only", got)
	}
}
