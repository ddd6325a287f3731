package archive

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/fixity"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

// uploadList is the name of the list of uploaded files, in the folder of the WARC files. It has one [uploadedFile] per
// line.
const uploadList = "uploads.jsonl"

const (
	uploadState = "upload.json" // in the state folder

	uploadEvery    = 30 * time.Second
	uploadPause    = 30 * time.Second // after a failure; it doubles up to maxUploadPause
	maxUploadPause = time.Hour

	maxPut   = 5 << 30  // bytes that a server takes in one request
	partSize = 64 << 20 // bytes of a part of a larger file
	maxParts = 10_000   // of a file
)

// uploadedFile is a file whose copy in a bucket was read back and is the same.
type uploadedFile struct {
	File   string    `json:"file"`
	Bucket string    `json:"bucket"`
	Key    string    `json:"key"`
	Size   int64     `json:"size"`
	SHA256 string    `json:"sha256"`
	At     time.Time `json:"at"`
}

// uploader copies finished WARC files to a bucket of an S3-compatible server, the oldest first. It reads each copy
// back, and never overwrites or deletes anything, neither there nor here.
type uploader struct {
	Dir, State string // folders of the WARC files and of the state
	Bucket     config.Upload
	Now        func() time.Time
	Log        zerolog.Logger

	server  *minio.Core
	largest int64 // bytes of one request and of a part; 0 = maxPut and partSize
	files   listed
	known   uploadProgress
	failing bool               // the last attempt since the start failed
	named   int                // files in earlier buckets that the log counts
	earlier map[[2]string]bool // names and digests of the files in earlier buckets; nil = not read in this step

	mu    sync.Mutex // guards the field below
	shown api.Upload
}

// uploadProgress is stored, so that an uploader continues after a restart.
type uploadProgress struct {
	Done     int       `json:"done"`               // entries of the manifest that need no further look
	Skipped  int       `json:"skipped,omitempty"`  // of these, the ones that are gone or were changed here
	Earlier  int       `json:"earlier,omitempty"`  // of these, the ones that only an earlier bucket has
	Failures int       `json:"failures,omitempty"` // in a row
	Next     time.Time `json:"next,omitzero"`      // no attempt before
	Since    time.Time `json:"since,omitzero"`     // the first of the failures
	Error    string    `json:"error,omitempty"`
	Bucket   string    `json:"bucket"` // whose progress it is
}

// Open reads how far the upload is, and prepares to connect through transport. It must be called first.
func (u *uploader) Open(transport http.RoundTripper) error {
	to, err := url.Parse(u.Bucket.Endpoint)
	if err != nil {
		return fmt.Errorf("read upload.endpoint: %w", err)
	}
	id, key, _ := strings.Cut(u.Bucket.Secret.Reveal(), ":")
	u.server, err = minio.NewCore(to.Host, &minio.Options{
		Creds: credentials.NewStaticV4(id, key, ""), Secure: to.Scheme == "https", Transport: transport,
		Region: u.Bucket.Region, BucketLookup: minio.BucketLookupPath, MaxRetries: 1,
	})
	if err != nil {
		return fmt.Errorf("use upload.endpoint %s: %w", u.Bucket.Endpoint, err)
	}
	u.files.dir = u.Dir
	text, err := os.ReadFile(u.path())
	if err == nil {
		err = json.Unmarshal(text, &u.known)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read %s: %w; remove it to compare all uploaded files again", u.path(), err)
	}
	if place := bucketOf(u.Bucket); u.known.Bucket != place {
		u.known = uploadProgress{Bucket: place}
	}
	u.named = u.known.Earlier
	return nil
}

// bucketOf returns the address of the server and the name of the bucket.
func bucketOf(u config.Upload) string { return strings.TrimSuffix(u.Endpoint, "/") + "/" + u.Bucket }

func (u *uploader) path() string { return filepath.Join(u.State, uploadState) }

// Shown returns how far the upload is.
func (u *uploader) Shown() *api.Upload {
	u.mu.Lock()
	defer u.mu.Unlock()
	s := u.shown
	return &s
}

// Step uploads the files that were finished since the last one. It returns when the next step is due.
func (u *uploader) Step(ctx context.Context) time.Duration {
	if wait := u.known.Next.Sub(u.Now()); wait > 0 && wait <= maxUploadPause {
		u.note()
		return wait
	}
	entries, err := u.files.read()
	for err == nil && u.known.Done < len(entries) {
		u.note()
		p := u.known.restarted()
		p.Done++
		if err = u.upload(ctx, entries[u.known.Done], &p); err == nil {
			err = u.save(p)
		}
	}
	u.earlier = nil
	if ctx.Err() != nil {
		return uploadEvery
	}
	if err == nil && u.known.Failures > 0 {
		err = u.save(u.known.restarted())
	}
	if err == nil {
		u.nameEarlier()
		if u.failing {
			u.failing = false
			u.Log.Info().Str("bucket", u.known.Bucket).Msg("finished WARC files are uploaded again")
		}
		u.note()
		return uploadEvery
	}
	if !u.failing {
		u.failing = true
		u.Log.Warn().Err(err).Msg("could not upload a finished WARC file; trying again until it is uploaded")
	}
	pause := min(uploadPause<<min(u.known.Failures, 10), maxUploadPause)
	p := u.known
	p.Failures, p.Next, p.Error = p.Failures+1, u.Now().Add(pause), err.Error()
	if p.Since.IsZero() {
		p.Since = u.Now()
	}
	if err := u.save(p); err != nil {
		u.Log.Error().Err(err).Msg("could not store how far the upload is: after a restart it tries again at once")
		u.known = p
	}
	u.note()
	return pause
}

// restarted returns the progress without the failures.
func (p uploadProgress) restarted() uploadProgress {
	p.Failures, p.Next, p.Since, p.Error = 0, time.Time{}, time.Time{}, ""
	return p
}

// nameEarlier logs how many files are only in an earlier bucket.
func (u *uploader) nameEarlier() {
	if u.known.Earlier == u.named {
		return
	}
	u.named = u.known.Earlier
	u.Log.Warn().Int("files", u.named).Str("bucket", u.known.Bucket).
		Msg("WARC files that were deleted here are only in the earlier bucket; if this one must have them, copy them there, " +
			"remove upload.json in storage.state, and restart the daemon")
}

func (u *uploader) save(p uploadProgress) error {
	text, err := json.Marshal(p)
	if err == nil {
		err = fileio.Write(u.path(), append(text, '\n'), 0o644)
	}
	if err == nil {
		u.known = p
	}
	return err
}

// note records what is shown of the upload.
func (u *uploader) note() {
	s := api.Upload{
		Bucket: u.known.Bucket, Done: u.known.Done - u.known.Skipped - u.known.Earlier, Skipped: u.known.Skipped,
		Earlier: u.known.Earlier, Waiting: max(0, len(u.files.entries)-u.known.Done), Error: u.known.Error,
	}
	if !u.known.Since.IsZero() {
		s.Since = api.Moment(u.known.Since)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.shown = s
}

// upload copies a file to the bucket, compares the copy, and lists it. It skips a file that is gone or was changed, and
// counts it in p.
func (u *uploader) upload(ctx context.Context, e fixity.Entry, p *uploadProgress) error {
	key := u.Bucket.Prefix + e.File
	where := u.known.Bucket + " " + key
	_, err := u.server.StatObject(ctx, u.Bucket.Bucket, key, minio.StatObjectOptions{})
	switch {
	case err == nil: // an earlier attempt put it there, or something else is there
	case minio.ToErrorResponse(err).StatusCode != http.StatusNotFound:
		return fmt.Errorf("look for %s: %w", where, err)
	default:
		path := filepath.Join(u.Dir, filepath.FromSlash(e.File))
		sum, _, err := warc.HashFile(path)
		if to, link := os.Readlink(path); link == nil && errors.Is(err, fs.ErrNotExist) { // it comes back with the disk
			return fmt.Errorf("read %s: it was moved to %s, which is not there: is that disk mounted?", path, to)
		}
		if errors.Is(err, fs.ErrNotExist) {
			earlier, err := u.inEarlier(e)
			if err != nil {
				return err
			}
			if earlier {
				p.Earlier++
				return nil
			}
		}
		if errors.Is(err, fs.ErrNotExist) || err == nil && sum != "sha256:"+e.SHA256 {
			u.Log.Error().Str("file", path).
				Msg("a finished WARC file is gone or was changed: it is not uploaded; arcrawl verify says what is wrong")
			p.Skipped++
			return nil
		}
		if err == nil {
			err = u.put(ctx, path, key, e)
		}
		if err != nil {
			return fmt.Errorf("upload %s to %s: %w", path, where, err)
		}
	}
	if err := u.compare(ctx, key, e); err != nil {
		return fmt.Errorf("compare %s with the manifest: %w", where, err)
	}
	at := u.Now().UTC().Truncate(time.Second)
	return u.list(uploadedFile{File: e.File, Bucket: u.known.Bucket, Key: key, Size: e.Size, SHA256: e.SHA256, At: at})
}

// inEarlier reports whether the list of uploaded files names a file in another bucket, which then is an earlier one.
func (u *uploader) inEarlier(e fixity.Entry) (bool, error) {
	if u.earlier == nil {
		list, err := u.uploads()
		if err != nil {
			return false, err
		}
		u.earlier = map[[2]string]bool{}
		for _, up := range list {
			if up.Bucket != u.known.Bucket {
				u.earlier[[2]string{up.File, up.SHA256}] = true
			}
		}
	}
	return u.earlier[[2]string{e.File, e.SHA256}], nil
}

// put sends a file. The server refuses it if it has not the digest of the manifest, which is part of the signature.
func (u *uploader) put(ctx context.Context, path, key string, e fixity.Entry) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	o := minio.PutObjectOptions{ContentType: "application/warc", UserMetadata: map[string]string{"sha256": e.SHA256}}
	o.DisableContentSha256 = true // the digest of the file or of a part is signed instead of each chunk
	if e.Size > cmp.Or(u.largest, maxPut) {
		return u.putParts(ctx, key, f, e.Size, o)
	}
	_, err = u.server.PutObject(ctx, u.Bucket.Bucket, key, f, e.Size, "", e.SHA256, o)
	return err
}

// compare reads an object back and compares it with the manifest.
func (u *uploader) compare(ctx context.Context, key string, e fixity.Entry) error {
	object, _, _, err := u.server.GetObject(ctx, u.Bucket.Bucket, key, minio.GetObjectOptions{})
	if err != nil {
		return err
	}
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(object, e.Size+1)) // a server may send without end
	if err = errors.Join(err, object.Close()); err != nil {
		return err
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != e.SHA256 {
		return fmt.Errorf("the object has %d bytes and SHA-256 %s, the file had %d bytes and %s when it was sealed; "+
			"nothing is overwritten: if the next attempts say the same, move the object away", n, got, e.Size, e.SHA256)
	}
	return nil
}

// uploads returns the files in the list of uploaded files. A crash can have cut a line.
func (u *uploader) uploads() (list []uploadedFile, err error) {
	text, err := os.ReadFile(filepath.Join(u.Dir, uploadList))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the list of uploaded files: %w", err)
	}
	for line := range bytes.Lines(text) {
		var up uploadedFile
		if json.Unmarshal(line, &up) == nil {
			list = append(list, up)
		}
	}
	return list, nil
}

// list appends a file to the list of uploaded files.
func (u *uploader) list(e uploadedFile) (err error) {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(u.Dir, uploadList), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var end [1]byte
	if _, err := f.ReadAt(end[:], max(0, info.Size()-1)); err == nil && end[0] != '\n' {
		line = append([]byte{'\n'}, line...) // a crash has cut the last line
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		return err
	}
	return f.Sync()
}

// putParts sends a file in parts: servers take at most 5 GiB in one request. The SHA-256 of each part is signed,
// so the server refuses a part that differs. If a part fails, the parts before it are removed there.
func (u *uploader) putParts(
	ctx context.Context, key string, f io.ReaderAt, size int64, o minio.PutObjectOptions,
) (err error) {
	bucket := u.Bucket.Bucket
	id, err := u.server.NewMultipartUpload(ctx, bucket, key, o)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, u.server.AbortMultipartUpload(context.WithoutCancel(ctx), bucket, key, id))
		}
	}()
	length := max(cmp.Or(u.largest, partSize), (size+maxParts-1)/maxParts)
	var parts []minio.CompletePart
	for pos := int64(0); pos < size; pos += length {
		part := io.NewSectionReader(f, pos, min(length, size-pos))
		sum := sha256.New()
		if _, err := fixity.Copy(ctx, sum, part); err != nil {
			return err
		}
		if _, err := part.Seek(0, io.SeekStart); err != nil {
			return err
		}
		sent, err := u.server.PutObjectPart(ctx, bucket, key, id, len(parts)+1, part, part.Size(),
			minio.PutObjectPartOptions{Sha256Hex: hex.EncodeToString(sum.Sum(nil)), DisableContentSha256: true})
		if err != nil {
			return err
		}
		parts = append(parts, minio.CompletePart{PartNumber: sent.PartNumber, ETag: sent.ETag})
	}
	_, err = u.server.CompleteMultipartUpload(ctx, bucket, key, id, parts, o)
	return err
}
