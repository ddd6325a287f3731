package warc

import (
	"errors"
	"fmt"
	"io"
)

// ID is the record id, without angle brackets.
func (rec *Record) ID() string { return rec.Header.ID("WARC-Record-ID") }

// Read reads the block. What it gives has not been proved until Close gave no error.
func (rec *Record) Read(p []byte) (int, error) {
	b, err := rec.peek()
	if err != nil {
		return 0, err
	}
	n := copy(p, b)
	rec.discard(n)
	return n, nil
}

// WriteTo gives the rest of the block to w, without a copy between.
func (rec *Record) WriteTo(w io.Writer) (written int64, err error) {
	for {
		b, err := rec.peek()
		if errors.Is(err, io.EOF) {
			return written, nil
		}
		if err != nil {
			return written, err
		}
		n, err := w.Write(b)
		rec.discard(n)
		written += int64(n)
		if err != nil {
			return written, err
		}
	}
}

// peek gives the next bytes of the block without copying them; they are good until the next call.
func (rec *Record) peek() ([]byte, error) {
	if rec.left == 0 {
		return nil, io.EOF
	}
	if rec.r.text.Buffered() == 0 {
		if _, err := rec.r.text.Peek(1); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	return rec.r.text.Peek(int(min(rec.left, int64(rec.r.text.Buffered()))))
}

func (rec *Record) discard(n int) {
	_, _ = rec.r.text.Discard(n) // they were peeked at: no error is possible
	rec.left -= int64(n)
}

// Close reads what is left of the record and proves it whole: the block is as long as Content-Length says, the two
// empty lines follow, and in a gzip file the member ends there with the right CRC. Otherwise it gives a [*Finding].
func (rec *Record) Close() error {
	r := rec.r
	if r.rec != rec {
		return nil // closed before
	}
	r.rec = nil
	for {
		b, err := rec.peek()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return rec.short(err)
		}
		rec.discard(len(b))
	}
	end, err := r.text.Peek(len(RecordEnd))
	if string(end) != RecordEnd {
		if err != nil && !errors.Is(err, io.EOF) {
			return r.damaged(rec, err)
		}
		return rec.unended(end)
	}
	_, _ = r.text.Discard(len(RecordEnd))
	if r.gzip {
		if err := rec.endMember(); err != nil {
			return err
		}
	}
	rec.Length = r.Offset() - rec.Offset
	return nil
}

// short explains why a block ended too early. In a gzip file that is whole, the member simply has no more.
func (rec *Record) short(err error) error {
	r := rec.r
	if !r.gzip || r.src.fault != nil {
		return r.damaged(rec, err)
	}
	if _, again := r.text.Peek(1); !errors.Is(again, io.EOF) {
		return r.damaged(rec, err)
	}
	r.inMember = false
	return r.finding(rec, Length, fmt.Sprintf("the block has %d bytes, Content-Length says %d", rec.Size-rec.left, rec.Size))
}

// unended explains why a record is not followed by two empty lines.
func (rec *Record) unended(found []byte) error {
	r := rec.r
	if !r.gzip && len(found) < len(RecordEnd) {
		return r.damaged(rec, io.ErrUnexpectedEOF)
	}
	found = append([]byte(nil), found...)
	rest, err := io.Copy(io.Discard, rec.memberRest())
	if err != nil {
		return r.damaged(rec, err)
	}
	text := fmt.Sprintf("after the %d bytes that Content-Length says come %.20q and not two empty lines", rec.Size, found)
	if r.gzip {
		text = fmt.Sprintf("the block has another length than the %d bytes that Content-Length says: the member goes on for %d bytes, with %.20q",
			rec.Size, rest, found)
		r.inMember = false
		return r.finding(rec, Length, text)
	}
	return r.resume(r.finding(rec, Length, text), r.Offset()-int64(len(RecordEnd)))
}

// memberRest is what is left of the gzip member; nothing in a plain file.
func (rec *Record) memberRest() io.Reader {
	if rec.r.gzip {
		return rec.r.text
	}
	return io.LimitReader(rec.r.text, 0)
}

// endMember reads the end of a gzip member, and with it its CRC. Another record in the same member is allowed by most
// readers and good for none: no index can point at it.
func (rec *Record) endMember() error {
	r := rec.r
	more, err := r.text.Peek(len(recordMagic))
	switch {
	case errors.Is(err, io.EOF) && len(more) == 0:
		r.inMember = false
		return nil
	case err != nil && !errors.Is(err, io.EOF):
		return r.damaged(rec, err)
	case string(more) == recordMagic:
		return nil // inMember stays
	}
	return r.skip(rec, Length, fmt.Sprintf("after the record its gzip member goes on with %.20q", more))
}

// SharesMember reports whether a closed record ended within its gzip member, so that another record follows in it.
func (rec *Record) SharesMember() bool { return rec.r.inMember }
