package curator

import (
	"strconv"
	"testing"

	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/uri"
)

// archived is an archive with a live index, as a running daemon has it. Its only file is open.
type archived struct {
	*archivetest.Archive
	live   *index.Live
	reader *captures.LiveReader
}

func newArchived(t *testing.T) *archived {
	t.Helper()
	return archivedIn(t, archivetest.New(t))
}

func archivedIn(t *testing.T, a *archivetest.Archive) *archived {
	t.Helper()
	live, err := index.OpenLive(t.Context(), a.Dir, nil, func(warc.Finding) error { return nil })
	archivetest.Must(t, err)
	reader := captures.NewLiveReader(live)
	t.Cleanup(func() { _, _ = reader.Close(), live.Close() })
	return &archived{a, live, reader}
}

// add indexes a record.
func (w *archived) add(o digest.Origin, mime string, status int) digest.Origin {
	w.T.Helper()
	archivetest.Must(w.T, w.live.Add(index.Entry{
		Key: uri.ReplayKey(o.URI), Timestamp: stamp(o), URL: o.URI, MIME: mime, Status: strconv.Itoa(status),
		Digest: o.Payload.String(), Length: o.Length, Offset: o.Offset, Filename: o.File,
	}))
	return o
}

// stamp returns the timestamp of a capture.
func stamp(o digest.Origin) string { return o.Date.UTC().Format(index.DateLayout) }
