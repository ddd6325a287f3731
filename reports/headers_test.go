package reports

import (
	"bytes"
	"regexp"
	"testing"

	"github.com/arcrawl/arcrawl/admin/api"
)

// The table of indexes says what the readings of each took.
func TestTheTableOfIndexesHasRequestsAndBytes(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	err := printHeaders(&out, api.HeaderReport{Indexes: []api.IndexTrust{
		{URI: "http://news.example/list.xml", Every: 3600, Requests: 236, Received: 5 << 20, Followed: true},
	}}, api.HostNames{})
	if err != nil || !regexp.MustCompile(`list\.xml .* 1h0m0s +236 +5\.\d MB +yes`).Match(out.Bytes()) {
		t.Errorf("%v, the table is:\n%s", err, &out)
	}
}
