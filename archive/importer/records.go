package importer

import (
	"archive/zip"
	"bufio"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
)

// harvest is where what was found in a collection goes. A record of which ok is false is none that an index of payloads can
// use. After is how far the collection has been read with it, where reading may begin again; -1 in the middle.
type harvest func(f dedup.Found, ok bool, after int64) error

// reap reads a collection from a position on. Damage is a finding, and the rest is read; an error ends it.
type reap func(ctx context.Context, from int64, give harvest, see func(warc.Finding) error) error

// reapWARC reads a WARC file. Positions are offsets in it.
func reapWARC(file string, watch *warc.Progress) reap {
	return func(ctx context.Context, from int64, give harvest, see func(warc.Finding) error) error {
		r, err := warc.OpenAt(file, from)
		if err != nil {
			return warc.ReportFinding(err, see)
		}
		defer r.Close() //nolint:errcheck // nothing was written
		return reapRecords(ctx, r, filepath.Base(file), from, give, see, watch)
	}
}

func reapRecords(ctx context.Context, r *warc.Reader, name string, from int64, give harvest, see func(warc.Finding) error, watch *warc.Progress) error {
	in := [2]*bufio.Reader{warc.NewHeadReader(), warc.NewHeadReader()}
	for before := from; ctx.Err() == nil; {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		var f dedup.Found
		ok := false
		if err == nil {
			f, ok, err = foundIn(rec, name, in)
		}
		if err != nil {
			if err := warc.ReportFinding(err, see); err != nil {
				return err
			}
		}
		watch.AddBytes(r.Offset() - before)
		before = r.Offset()
		after := before
		if rec != nil && rec.SharesMember() {
			after = -1
		}
		if err := give(f, ok, after); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// foundIn makes of a record what an index of payloads needs, and proves the record whole. The payload is digested anew: of a
// record that has another digest in its header, of the chunks as they were sent for one, no revisit could be written that fits it.
func foundIn(rec *warc.Record, file string, readers [2]*bufio.Reader) (f dedup.Found, ok bool, err error) {
	h := rec.Header
	want, _ := warc.ParseDigest(h.Get("WARC-Payload-Digest"))
	switch {
	case h.Type() == "revisit" && len(want.Value) == len(f.Payload):
		copy(f.Payload[:], want.Value)
		f.Revisit = true
		f.Origin = digest.Origin{RecordID: h.ID("WARC-Refers-To"), URI: warc.TrimID(h.Get("WARC-Refers-To-Target-URI")), Payload: f.Payload}
		if f.Origin.Date, err = warc.ParseDate(h.Get("WARC-Refers-To-Date")); err != nil {
			f.Origin.URI = ""
		}
		return f, !f.Origin.IsZero(), rec.Close()
	case h.Type() != "response" || !h.IsHTTP() || h.Get("WARC-Truncated") != "" || h.Get("WARC-Segment-Number") != "" || h.Date().IsZero():
		return f, false, rec.Close()
	}
	in := readers[0]
	in.Reset(rec)
	head, err := warc.ReadHead(in)
	if err != nil {
		return f, false, rec.Close()
	}
	sum, sent := sha1.New(), sha1.New()
	if head.Chunked() { // some writers digest the chunks as they were sent
		readers[1].Reset(io.TeeReader(in, sent))
		in = readers[1]
	}
	body, _ := head.Payload(in)
	size, bad := io.Copy(sum, body)
	_, _ = io.Copy(io.Discard, in) // an error comes again when the record is closed
	if err := rec.Close(); err != nil {
		return f, false, err
	}
	f.Payload = digest.Digest(sum.Sum(nil))
	if want.Algorithm == "sha1" && !want.Matches(sum) && !(head.Chunked() && want.Matches(sent)) {
		wrong := rec.Finding(warc.PayloadDigest, want.Differs("payload", sum)+"; nothing is going to refer to this record")
		return f, false, &wrong
	}
	f.Status, f.MIME = head.Status, head.MIME()
	f.Origin = digest.Origin{
		RecordID: rec.ID(), URI: h.Target(), Date: h.Date(), Payload: f.Payload, File: file, Offset: rec.Offset, Length: rec.Length, Size: size,
	}
	fits := want.IsZero() || len(want.Value) == len(f.Payload) && digest.Digest(want.Value) == f.Payload
	return f, bad == nil && size > 0 && fits && usable(f), nil
}

// waczMember is by how much a position in a package tells the WARC file in it; the rest is the offset there.
const waczMember = 1 << 44

// reapWACZ reads the WARC files of a package.
func reapWACZ(file string, watch *warc.Progress) reap {
	return func(ctx context.Context, from int64, give harvest, see func(warc.Finding) error) error {
		fault := func(text string) error {
			return see(warc.Finding{File: file, Offset: -1, Severity: warc.Error, Kind: warc.NotWARC, Text: text})
		}
		z, err := zip.OpenReader(file)
		if err != nil {
			return fault("this is no WACZ package: " + warc.Cause(err))
		}
		defer z.Close() //nolint:errcheck // nothing was written
		number := int64(-1)
		for _, m := range z.File {
			if path.Dir(m.Name) != "archive" || !warc.IsArchive(m.Name) {
				continue
			}
			if number++; number < from/waczMember {
				continue
			}
			offset := int64(0)
			if number == from/waczMember {
				offset = from % waczMember
			}
			f := warc.PackedFile(file, m)
			r, err := f.OpenAt(offset)
			if err != nil {
				if err := warc.ReportFinding(err, see); err != nil {
					return err
				}
				continue
			}
			inMember := func(f dedup.Found, ok bool, after int64) error {
				if after >= 0 {
					after += number * waczMember
				}
				return give(f, ok, after)
			}
			if err := errors.Join(reapRecords(ctx, r, f.Name, offset, inMember, see, watch), r.Close()); err != nil {
				return err
			}
		}
		if number < 0 {
			return fault("there is no WARC file in this package")
		}
		return nil
	}
}

// usable reports whether an index can hold it.
func usable(f dedup.Found) bool {
	return !f.Payload.IsZero() && f.Status > 0 && f.Status <= 999 && f.Origin.URI != "" && !f.Origin.Date.IsZero() &&
		isHeaderText(f.Origin.URI) && isHeaderText(f.Origin.RecordID)
}

// maxURI is the longest URI of an original that a revisit is going to name.
const maxURI = 8192

// isHeaderText reports whether a text can stand in the header of a revisit record.
func isHeaderText(s string) bool {
	return len(s) <= maxURI && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

func unknownFormat(file string) error {
	return &warc.Finding{
		File: file, Offset: -1, Severity: warc.Error, Kind: warc.NotWARC,
		Text: fmt.Sprintf("this is none of %s; name one with --as if it is", strings.Join(Formats(), ", ")),
	}
}
