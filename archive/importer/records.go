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

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/warcout"
)

// receiver receives each record of a collection. ok is false if the dedup index cannot use the record. after is the
// position after the record, at which an interrupted import can resume. It is -1 if that is not possible there.
type receiver func(f dedup.Found, ok bool, after int64) error

// readFunc reads a collection from a position on. It reports damage and reads the rest.
type readFunc func(ctx context.Context, from int64, receive receiver, report func(warc.Finding) error) error

// readWARC returns a function that reads a WARC file. Positions are offsets in the file.
func readWARC(file string, progress *warc.Progress) readFunc {
	return func(ctx context.Context, from int64, receive receiver, report func(warc.Finding) error) error {
		r, err := warc.OpenAt(file, from)
		if err != nil {
			return warc.ReportFinding(err, report)
		}
		defer r.Close() //nolint:errcheck // nothing was written
		return readRecords(ctx, r, filepath.Base(file), from, receive, report, progress)
	}
}

// readRecords reads the records of one WARC file.
func readRecords(
	ctx context.Context, r *warc.Reader, name string, from int64,
	receive receiver, report func(warc.Finding) error, progress *warc.Progress,
) error {
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
			if err := warc.ReportFinding(err, report); err != nil {
				return err
			}
		}
		progress.AddBytes(r.Offset() - before)
		before = r.Offset()
		after := before
		if rec != nil && rec.SharesMember() {
			after = -1
		}
		if err := receive(f, ok, after); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// foundIn returns what the dedup index needs from a record, after checking that the record is whole. It computes the
// digest of the payload again, and also the one of the header if that is not a SHA-1. A record whose header has another
// digest, for example of the chunked body, is not used: no revisit could match it.
func foundIn(rec *warc.Record, file string, readers [2]*bufio.Reader) (f dedup.Found, ok bool, err error) {
	h := rec.Header
	want, _ := warc.ParseDigest(h.Get("WARC-Payload-Digest"))
	switch {
	case h.Type() == "revisit" && len(want.Value) == len(f.Payload):
		copy(f.Payload[:], want.Value)
		f.Revisit = true
		f.Origin = digest.Origin{
			RecordID: h.ID("WARC-Refers-To"), URI: warc.TrimID(h.Get("WARC-Refers-To-Target-URI")), Payload: f.Payload,
		}
		if f.Origin.Date, err = warc.ParseDate(h.Get("WARC-Refers-To-Date")); err != nil {
			f.Origin.URI = ""
		}
		return f, !f.Origin.IsZero(), rec.Close()
	case h.Type() != "response" || !h.IsHTTP() || h.Date().IsZero() ||
		h.Get("WARC-Truncated") != "" || h.Get("WARC-Segment-Number") != "":
		return f, false, rec.Close()
	}
	in := readers[0]
	in.Reset(rec)
	head, err := warc.ReadHead(in)
	if err != nil {
		return f, false, rec.Close()
	}
	sum, sent, other := sha1.New(), sha1.New(), io.Discard
	theirs := warc.NewHash(want.Algorithm) // Browsertrix writes SHA-256
	if want.Algorithm != "sha1" && theirs != nil {
		other = theirs
	}
	if head.Chunked() { // some writers digest the chunks as they were sent
		readers[1].Reset(io.TeeReader(in, sent))
		in = readers[1]
	}
	body, _ := head.Payload(in)
	size, bad := io.Copy(io.MultiWriter(sum, other), body)
	_, _ = io.Copy(io.Discard, in) // closing the record returns the error
	if err := rec.Close(); err != nil {
		return f, false, err
	}
	f.Payload = digest.Digest(sum.Sum(nil))
	if want.Algorithm == "sha1" && !want.Matches(sum) && !(head.Chunked() && want.Matches(sent)) {
		wrong := rec.Finding(warc.PayloadDigest, want.Differs("payload", sum)+"; no revisit is going to refer to this record")
		return f, false, &wrong
	}
	f.Status, f.MIME = head.Status, head.MIME()
	f.Origin = digest.Origin{
		RecordID: rec.ID(), URI: h.Target(), Date: h.Date(), Payload: f.Payload,
		File: file, Offset: rec.Offset, Length: rec.Length, Size: size,
	}
	fits := want.IsZero() || len(want.Value) == len(f.Payload) && digest.Digest(want.Value) == f.Payload ||
		other != io.Discard && want.Matches(theirs)
	return f, bad == nil && size > 0 && fits && usable(f), nil
}

// waczMember divides a position in a package: the quotient is the number of the WARC file, the rest the offset in it.
const waczMember = 1 << 44

// readWACZ returns a function that reads the WARC files of a package.
func readWACZ(file string, progress *warc.Progress) readFunc {
	return func(ctx context.Context, from int64, receive receiver, report func(warc.Finding) error) error {
		fault := func(text string) error {
			return report(warc.Finding{File: file, Offset: -1, Severity: warc.Error, Kind: warc.NotWARC, Text: text})
		}
		z, err := zip.OpenReader(file)
		if err != nil {
			return fault("this is not a WACZ package: " + warc.Cause(err))
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
				if err := warc.ReportFinding(err, report); err != nil {
					return err
				}
				continue
			}
			inMember := func(f dedup.Found, ok bool, after int64) error {
				if after >= 0 {
					after += number * waczMember
				}
				return receive(f, ok, after)
			}
			if err := errors.Join(readRecords(ctx, r, f.Name, offset, inMember, report, progress), r.Close()); err != nil {
				return err
			}
		}
		if number < 0 {
			return fault("there is no WARC file in this package")
		}
		return nil
	}
}

// usable reports whether the dedup index can hold an original.
func usable(f dedup.Found) bool {
	return !f.Payload.IsZero() && f.Status > 0 && f.Status <= 999 && f.Origin.URI != "" && !f.Origin.Date.IsZero() &&
		isHeaderText(f.Origin.URI) && isHeaderText(f.Origin.RecordID)
}

// maxURI is the maximum length of the URI of an original, in bytes.
const maxURI = 8192

// isHeaderText reports whether a text can be used in the header of a revisit record.
func isHeaderText(s string) bool {
	return len(s) <= maxURI && warcout.FitsHeader(s)
}

// unknownFormat returns the finding for a file whose format is unknown.
func unknownFormat(file string) error {
	return &warc.Finding{
		File: file, Offset: -1, Severity: warc.Error, Kind: warc.NotWARC,
		Text: fmt.Sprintf("this is not one of %s; name the format with --as if it is", strings.Join(Formats(), ", ")),
	}
}
