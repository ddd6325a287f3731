package archive

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

const (
	// pushEvery is how often an empty queue is checked.
	pushEvery = 2 * time.Second
	// pushPause is the pause after a failure. It doubles up to maxPushPause.
	pushPause    = time.Second
	maxPushPause = 5 * time.Minute
	// lastPush is how long a stop waits for the last lines to be sent.
	lastPush = 5 * time.Second
	// postTime and maxPostAnswer bound an exchange with the server.
	postTime      = time.Minute
	maxPostAnswer = 4 << 10
)

// pusher sends the lines of the index to an OutbackCDX server. The crawl only adds to its queue, and never waits for
// it.
type pusher struct {
	retries
	queue *lineQueue
	post  func(ctx context.Context, lines []byte) (status int, answer string, err error)
}

// openPusher opens the queue of lines for the server that the configuration names. It returns nil if it names none.
func openPusher(c *config.Config, version string, log zerolog.Logger) (*pusher, error) {
	to := c.Index.OutbackCDX
	switch {
	case to == "":
		return nil, nil
	case !c.Index.Live:
		log.Warn().Msg("sending nothing to the OutbackCDX server: index.outbackcdx needs index.live = true")
		return nil, nil
	}
	queue, err := openQueue(filepath.Join(c.Storage.State, "outbackcdx"))
	if err != nil {
		return nil, err
	}
	agent, shown := c.UserAgent(version), ""
	if u, err := url.Parse(to); err == nil {
		shown = u.Redacted() // without the password
	}
	log = log.With().Str("server", shown).Logger()
	return newPusher(queue, log, func(ctx context.Context, lines []byte) (int, string, error) {
		return postLines(ctx, to, agent, lines)
	}), nil
}

// postLines sends lines of text to a server of the operator. It returns the status and the first 4 KiB of the answer.
func postLines(ctx context.Context, to, userAgent string, lines []byte) (status int, answer string, _ error) {
	return postText(ctx, to, userAgent, "text/plain; charset=utf-8", lines)
}

// postText sends a text to a server of the operator, as [postLines] does.
func postText(
	ctx context.Context, to, userAgent, contentType string, text []byte,
) (status int, answer string, _ error) {
	ctx, cancel := context.WithTimeout(ctx, postTime)
	defer cancel()
	header := http.Header{"Content-Type": {contentType}, "User-Agent": {userAgent}}
	status, got, err := fetch.Post(ctx, nil, to, header, text, maxPostAnswer)
	if err != nil {
		return 0, "", fmt.Errorf("send a text to a server: %w", err)
	}
	return status, string(got), nil
}

func newPusher(
	queue *lineQueue, log zerolog.Logger, post func(ctx context.Context, lines []byte) (int, string, error),
) *pusher {
	return &pusher{queue: queue, post: post, retries: retries{
		log: log, first: pushPause, most: maxPushPause,
		failed: "could not send index lines to the OutbackCDX server; they are kept and sent again",
		works:  "the OutbackCDX server accepts index lines again",
	}}
}

// turn sends the next lines. It returns the pause until the next turn.
func (p *pusher) turn(ctx context.Context) time.Duration {
	more, err := p.step(ctx)
	switch {
	case err != nil && ctx.Err() == nil:
		return p.failure(err)
	case more:
		return 0
	}
	return pushEvery
}

// step sends the next lines. It reports whether there may be more.
func (p *pusher) step(ctx context.Context) (more bool, err error) {
	entries, next, err := p.queue.Next(maxPushLines, maxPushBytes)
	if err != nil {
		return false, err
	}
	if len(entries) > 0 {
		if err := p.deliver(ctx, entries); err != nil {
			return false, err
		}
		p.success()
	} else if p.queue.Waiting() == 0 {
		return false, nil
	}
	return true, p.queue.Done(next)
}

// deliver sends all entries. It skips and logs those that the server refuses.
func (p *pusher) deliver(ctx context.Context, all []index.Entry) error {
	to := &cdxCollection{Post: p.post, Refused: func(e index.Entry, why error) {
		p.log.Error().Str("uri", e.URL).Str("file", e.Filename).Int64("offset", e.Offset).Err(why).
			Msg("skipping an index line: the OutbackCDX server refuses it; the archive's own index has it")
	}}
	return to.Send(ctx, all)
}

// close closes the queue, when run has ended. If the server works, it first sends the lines that are left, for at most
// lastPush. What is not sent by then is sent after the next start.
func (p *pusher) close() error {
	if !p.failing {
		ctx, cancel := context.WithTimeout(context.Background(), lastPush)
		defer cancel()
		for more := true; more && ctx.Err() == nil; {
			var err error
			if more, err = p.step(ctx); err != nil {
				p.failure(err)
			}
		}
	}
	if n := p.queue.Waiting(); n > 0 {
		p.log.Info().Int64("bytes", n).Msg("index lines are left for the OutbackCDX server; they are sent after the next start")
	}
	return p.queue.Close()
}

const (
	queueName    = "queue.cdxj"
	positionName = "position"
	// emptyFrom is the minimum size in bytes at which a queue that was read to its end is emptied.
	emptyFrom = 1 << 20
)

// lineQueue holds the lines of an index on disk, in the order in which they were added, until a server has accepted
// them. It consists of a file of lines and a file with the position up to which they were sent. One goroutine may read
// while others add.
//
// Each line is sent at least once. The position advances only after the server has accepted the lines, and is reset
// before the file of lines is emptied. Lines are not synced one by one: [lineQueue.Sync] must run before an
// [index.Live] merges them. Lines that a crash loses before that are added again at the next start, by
// [index.OpenLive].
type lineQueue struct {
	dir string

	mu   sync.Mutex // guards the fields below
	file *os.File
	size int64 // of the whole lines, in bytes
	at   int64 // position up to which lines were sent
	err  error // the first disk error; no line is added after it
}

// openQueue opens the queue in a folder, which is created if it is missing. It removes a line that a crash has cut.
func openQueue(dir string) (*lineQueue, error) {
	q := &lineQueue{dir: dir}
	if err := q.open(); err != nil {
		return nil, fmt.Errorf("open the queue of index lines in %s: %w", dir, err)
	}
	return q, nil
}

func (q *lineQueue) open() error {
	if err := os.MkdirAll(q.dir, 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(q.dir, queueName), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	if q.size, err = endOfLines(f); err == nil {
		err = f.Truncate(q.size)
	}
	if err == nil {
		q.at, err = q.position(f)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	q.file = f
	return nil
}

// endOfLines returns the offset at which the last whole line ends.
func endOfLines(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	block := make([]byte, 128<<10)
	for end := info.Size(); end > 0; {
		from := max(0, end-int64(len(block)))
		n, err := f.ReadAt(block[:end-from], from)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if i := bytes.LastIndexByte(block[:n], '\n'); i >= 0 {
			return from + int64(i) + 1, nil
		}
		end = from
	}
	return 0, nil
}

// position reads the position up to which lines were sent. It is 0 if the stored position is not valid: sending a line
// twice is harmless.
func (q *lineQueue) position(f *os.File) (int64, error) {
	text, err := os.ReadFile(filepath.Join(q.dir, positionName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	at, err := strconv.ParseInt(strings.TrimSuffix(string(text), "\n"), 10, 64)
	if err != nil || at <= 0 {
		return 0, nil
	}
	if at >= q.size { // a power cut has lost the rest, after it had been sent
		return q.size, nil
	}
	end := make([]byte, 1)
	if _, err := f.ReadAt(end, at-1); err != nil || end[0] != '\n' {
		return 0, err
	}
	return at, nil
}

// Add adds a line of CDXJ with its line end. It returns a disk error once and then ignores all further lines.
// [lineQueue.Sync] keeps returning the error, so that the next start adds what is missing.
func (q *lineQueue) Add(line []byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err != nil {
		return nil
	}
	if _, err := q.file.Write(line); err != nil {
		q.err = fmt.Errorf("add to the queue of index lines in %s: %w", q.dir, err)
		return q.err
	}
	q.size += int64(len(line))
	return nil
}

// Sync makes the added lines safe on disk. Lines may be added meanwhile.
func (q *lineQueue) Sync() error {
	q.mu.Lock()
	err := q.err
	q.mu.Unlock()
	if err != nil {
		return err
	}
	if err := q.file.Sync(); err != nil {
		err = fmt.Errorf("sync the queue of index lines in %s: %w", q.dir, err)
		q.mu.Lock()
		q.err = err // a later success would not mean that these lines are safe
		q.mu.Unlock()
		return err
	}
	return nil
}

// Next returns the first entries that were not sent yet, at most the given number of lines and bytes. next is the
// argument of [lineQueue.Done] for when they were sent. Next skips lines that are not valid. It always makes progress:
// next is greater than the position, unless the queue is empty.
func (q *lineQueue) Next(lines, size int) (entries []index.Entry, next int64, _ error) {
	q.mu.Lock()
	from, to := q.at, q.size
	q.mu.Unlock()
	in := bufio.NewReader(io.NewSectionReader(q.file, from, min(to-from, int64(size))))
	next = from
	for len(entries) < lines {
		line, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, from, fmt.Errorf("read the queue of index lines in %s: %w", q.dir, err)
		}
		next += int64(len(line))
		if e, err := index.ParseEntry(line); err == nil {
			entries = append(entries, e)
		}
	}
	if next == from && to > from {
		return nil, q.beyond(from, to), nil
	}
	return entries, next, nil
}

// beyond returns the end of a line that is too long to be valid.
func (q *lineQueue) beyond(from, to int64) int64 {
	in := bufio.NewReader(io.NewSectionReader(q.file, from, to-from))
	for pos := from; ; pos++ {
		if c, err := in.ReadByte(); err != nil || c == '\n' {
			return min(pos+1, to)
		}
	}
}

// Done stores that all lines before next were sent. It empties a long queue when all its lines were sent, and blocks
// Add only for that.
func (q *lineQueue) Done(next int64) error {
	if err := q.note(next); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.at = next
	if next < q.size || q.size < emptyFrom {
		return nil
	}
	if err := q.note(0); err != nil { // first the position: after a crash in between, all lines are sent again
		return err
	}
	err := q.file.Truncate(0)
	if err == nil {
		err = q.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("empty the queue of index lines in %s: %w", q.dir, err)
	}
	q.at, q.size = 0, 0
	return nil
}

func (q *lineQueue) note(at int64) error {
	err := fileio.Write(filepath.Join(q.dir, positionName), fmt.Appendln(nil, at), 0o644)
	if err != nil {
		return fmt.Errorf("store the position of the queue of index lines in %s: %w", q.dir, err)
	}
	return nil
}

// Waiting returns the size of the lines that were not sent yet, in bytes.
func (q *lineQueue) Waiting() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.size - q.at
}

// Close closes the queue. Lines that were not sent stay for the next start.
func (q *lineQueue) Close() error {
	return errors.Join(q.Sync(), q.file.Close())
}
