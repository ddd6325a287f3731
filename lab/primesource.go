package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/lab/sim"
	"github.com/arcrawl/arcrawl/uri"
)

// maxCaptures is the maximum number of captures of a host that a CDX server is asked for. OutbackCDX returns only
// 10,000 unless a number is asked for.
const maxCaptures = 5_000_000

// primeSource says where earlier visits are recorded. After [primeSource.Read] it has them.
type primeSource struct {
	Files  []string // crawl logs, indexes, WARC files, and folders of WARC files
	Server string   // address of a collection of a CDX server; empty = none
	Hosts  []string // only their URIs; empty = all, but a server needs hosts

	UserAgent string
	Damage    io.Writer // receives lines about damage in WARC files; the rest is read

	Seen            sim.Sightings
	Visits, Skipped int      // visits and lines
	Empty           []string // hosts of which the server had no visit

	names map[string]bool // the hosts in canonical form
}

// Check returns an error if the source is not complete. It must be called before [primeSource.Read].
func (s *primeSource) Check() error {
	s.names = map[string]bool{}
	for _, h := range s.Hosts {
		u, err := uri.Parse("http://" + h + "/")
		if err != nil || u.Path() != "/" {
			return fmt.Errorf("--host %q: want the name of a host, such as www.news.example", h)
		}
		s.names[u.Authority()] = true
	}
	switch {
	case s.Server == "" && len(s.Files) == 0:
		return errors.New("there is nothing to read; name files, or a CDX server with --from and --host")
	case s.Server == "":
		return nil
	case len(s.Hosts) == 0:
		return errors.New("--from needs --host, because a server is asked for the captures of single hosts")
	}
	u, err := url.Parse(s.Server)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") == "" {
		return errors.New("--from: want the address of a CDX server, such as http://localhost:8901/arcrawl " +
			"(OutbackCDX) or http://localhost:8080/arcrawl/cdx (pywb)")
	}
	return nil
}

// Read adds the visits in the files and on the server.
func (s *primeSource) Read(ctx context.Context) (err error) {
	archives, texts := sim.Archives(s.Files)
	if len(texts) > 0 {
		s.Visits, s.Skipped, err = s.Seen.ReadFiles(texts, s.wanted)
	}
	if err == nil && len(archives) > 0 {
		var captures int
		captures, err = s.Seen.ReadArchives(ctx, archives, s.wanted, cli.PrintFinding(s.Damage, false))
		s.Visits += captures
	}
	for i := 0; err == nil && s.Server != "" && i < len(s.Hosts); i++ {
		err = s.ask(ctx, s.Hosts[i])
	}
	return err
}

// wanted reports whether the visits of a URI are read.
func (s *primeSource) wanted(address string) bool {
	if len(s.names) == 0 {
		return true
	}
	u, err := uri.Parse(address)
	return err == nil && s.names[u.Authority()]
}

// ask adds the captures of a host that the CDX server has.
func (s *primeSource) ask(ctx context.Context, host string) error {
	u, err := url.Parse(s.Server)
	if err != nil {
		return uri.WithoutURL(err)
	}
	q := u.Query()
	q.Set("url", "http://"+host+"/")
	q.Set("matchType", "host")
	q.Set("limit", strconv.Itoa(maxCaptures))
	u.RawQuery = q.Encode()
	before := s.Visits
	err = getLines(ctx, u.String(), s.UserAgent, func(in io.Reader) error {
		visits, skipped, err := s.Seen.ReadLines(in, s.wanted)
		s.Visits += visits
		s.Skipped += skipped
		return err
	})
	if err != nil {
		return fmt.Errorf("read the captures of %s from the CDX server %s: %w; export them to a file and name it instead",
			host, u.Host, err)
	}
	if s.Visits == before {
		s.Empty = append(s.Empty, host)
	}
	return nil
}

const (
	gotTimeout   = 30 * time.Minute
	gotFirstByte = 2 * time.Minute // until the head of the answer
	maxGot       = 1 << 30
	maxRefusal   = 4 << 10 // bytes of the answer that say why there is none
)

// errAnswerTooLarge means that the answer of a server is larger than 1 GiB.
var errAnswerTooLarge = errors.New("the answer is larger than 1 GiB")

// getLines asks a server of the operator for a text, and calls read with the text while it arrives. It returns an error
// unless the status is 200. An answer may have 1 GiB and take half an hour.
func getLines(ctx context.Context, from, userAgent string, read func(io.Reader) error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, gotTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return fmt.Errorf("request a text from a server: %w", uri.WithoutURL(err))
	}
	r.Header = http.Header{"User-Agent": {userAgent}}
	res, err := fetch.AskOwnServer(r, gotFirstByte)
	if err != nil {
		return fmt.Errorf("request a text from a server: %w", err)
	}
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	if res.StatusCode != http.StatusOK {
		says, _ := io.ReadAll(io.LimitReader(res.Body, maxRefusal)) // the status is the error
		return fmt.Errorf("request a text from a server: it answered with status %d: %.200q", res.StatusCode, says)
	}
	return readBounded(res.Body, maxGot, read)
}

// readBounded calls read with at most limit bytes of in. It returns errAnswerTooLarge if there are more.
func readBounded(in io.Reader, limit int64, read func(io.Reader) error) error {
	bounded := &io.LimitedReader{R: in, N: limit + 1}
	if err := read(bounded); err != nil && bounded.N > 0 {
		return err
	}
	if bounded.N <= 0 {
		return errAnswerTooLarge
	}
	return nil
}
