package captures

import (
	"fmt"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

// maxInfo is the number of records at the beginning of a file among which its warcinfo records are. A file that was
// extracted from others begins with one of its own.
const maxInfo = 8

// UsualRequest makes the request of a capture that has no request record, because it was the usual one, which the
// warcinfo record of its file shows. It is empty if the metadata record of the capture does not say so.
func (l *Library) UsualRequest(e index.Entry) (string, error) {
	f, r, rec, err := l.openRecord(e)
	if err != nil {
		return "", err
	}
	defer r.Close() //nolint:errcheck // nothing was written
	id, info := rec.ID(), rec.Header.ID("WARC-Warcinfo-ID")
	if err := rec.Close(); err != nil {
		return "", warc.Damaged(err)
	}
	said := warc.Header(metadataOf(r, id)).Values(warcout.RequestField)
	if len(said) == 0 {
		return "", nil
	}
	usual, err := infoOf(f, info)
	if err != nil {
		return "", err
	}
	request, err := warcout.MakeRequest(usual.Values(warcout.UsualField), said, uri.FromCanonical(e.URL))
	if err != nil {
		return "", warc.Damaged(err)
	}
	return request, nil
}

// infoOf returns the fields of the warcinfo record of a file that has an id.
func infoOf(f warc.File, id string) (warc.Header, error) {
	r, rec, err := f.RecordAt(0)
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // nothing was written
	for range maxInfo {
		if rec.Header.Type() == "warcinfo" && rec.ID() == id {
			return rec.Fields()
		}
		if rec, err = r.Next(); err != nil {
			return nil, warc.Damaged(err)
		}
	}
	return nil, fmt.Errorf("%w: %s does not begin with the warcinfo record %s", warc.ErrNotFound, f.Path, id)
}
