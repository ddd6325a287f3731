package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/nlnwa/gowarc"

	"github.com/arcrawl/arcrawl/archive/warc"
)

// secondOpinion reads a file without errors with gowarc, another reader of WARC files, and reports what its validation
// finds, as warnings. Some damaged files keep gowarc busy without end, so a file with an error is not given to it.
//
// What gowarc says about payload digests of responses does not count: it digests the chunks too, against WARC/1.1,
// section 6.3.2, and those digests were checked before.
func secondOpinion(ctx context.Context, file warc.File, records int, report func(warc.Finding)) (err error) {
	offset := int64(-1)
	finding := func(text string) {
		report(warc.Finding{
			File: file.Path, Offset: offset, Severity: warc.Warning, Kind: warc.SecondReader,
			Text: "gowarc: " + strings.TrimPrefix(text, "gowarc: "),
		})
	}
	defer func() {
		if p := recover(); p != nil {
			finding(fmt.Sprintf("stopped reading: %v", p))
		}
	}()
	r, err := gowarc.NewWarcFileReader(file.Path, 0, gowarc.WithStrictValidation(),
		gowarc.WithSyntaxErrorPolicy(gowarc.ErrFail), gowarc.WithSpecViolationPolicy(gowarc.ErrWarn),
		gowarc.WithUnknownRecordTypePolicy(gowarc.ErrWarn), gowarc.WithBlockErrorPolicy(gowarc.ErrWarn))
	if err != nil {
		finding(err.Error())
		return nil
	}
	defer r.Close() //nolint:errcheck // nothing was written
	for range records + 1 {
		if err := ctx.Err(); err != nil {
			return err
		}
		record, at, notes, err := r.Next()
		offset = at
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			finding(err.Error())
			return nil
		}
		if notes == nil {
			notes = new(gowarc.Validation)
		}
		if err := record.ValidateDigest(notes); err != nil {
			finding(err.Error())
		}
		for _, note := range *notes {
			if !isFraming(record, note) {
				finding(note.Error())
			}
		}
		if err := record.Close(); err != nil {
			finding(err.Error())
			return nil
		}
	}
	finding(fmt.Sprintf("finds more than the %d records of the file", records))
	return nil
}

// isFraming reports whether a note is about the payload digest of a response.
func isFraming(record gowarc.WarcRecord, note error) bool {
	text := note.Error()
	return record.Type() == gowarc.Response && strings.Contains(text, "payload") && strings.Contains(text, "digest")
}
