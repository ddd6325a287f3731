package sim

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"time"

	"github.com/arcrawl/arcrawl/internal/fileio"
)

// The numbers of the method.
const (
	maxChanges = 1000                // a history is cut after this number of changes
	minPlayed  = 60 * 24 * time.Hour // but not before this time
	minWatched = 24 * time.Hour      // a shorter history is skipped, unless it begins with a birth
	maxLine    = 64 << 20            // bytes of one line of a history file
)

// History records when one resource was watched and when it changed.
type History struct {
	ID, Source, Kind, Host string
	Start                  time.Time
	Watched                time.Duration   // how long, from Start
	Born                   bool            // the resource was published at Start
	Sighted                bool            // made from the visits of a crawl, without the changes between them
	Noise                  bool            // each fetch differs from the one before, whether the resource changed or not
	Unseen                 bool            // no reader sees the noise
	Bytes                  int             // its usual size; 0 = unknown
	Changes                []time.Duration // after Start, ascending
	Earlier                []Sighting      // visits up to Start that are known before it is played; see [SecondHalf]
}

// line is a history as a file holds it.
type line struct {
	ID       string    `json:"id"`
	Src      string    `json:"src"`
	Kind     string    `json:"kind"`
	Host     string    `json:"host"`
	Start    int64     `json:"start"`
	End      int64     `json:"end"`
	Sampling float64   `json:"sampling_s"`
	Birth    bool      `json:"birth"`
	Noise    bool      `json:"noise"`
	Bytes    float64   `json:"bytes_p50"`
	Gaps     []float64 `json:"dt"`
}

// ReadFile reads a file of histories, gzipped or not.
func ReadFile(name string) ([]History, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open histories: %w", err)
	}
	all, err := Read(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read histories %s: %w", name, err)
	}
	return all, nil
}

// Read reads histories, one JSON object per line, gzipped or not, and prepares them for playing. Each change is moved
// to a random moment, seeded by the id, within the recorder's sampling interval before it was seen. Long histories are
// cut, and short ones skipped, as the package comment says. The same bytes always give the same histories.
func Read(r io.Reader) ([]History, error) {
	in, err := fileio.NewTextReader(r)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 1<<16), maxLine)
	var all []History
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if err := l.check(); err != nil {
			return nil, fmt.Errorf("line %d, %s: %w", n, l.ID, err)
		}
		if h, ok := l.history(); ok {
			all = append(all, h)
		}
	}
	return all, lines.Err()
}

// century bounds the length of a history in seconds, so that its times fit into a time.Duration.
const century = 100 * 365 * 86400

func (l line) check() error {
	if l.End < l.Start || l.End-l.Start > century {
		return fmt.Errorf("watched from %d to %d", l.Start, l.End)
	}
	sum := 0.0
	for i, gap := range l.Gaps {
		if sum += gap; !(gap >= 0) || sum > century {
			return fmt.Errorf("change %d comes %v seconds after the one before", i+1, gap)
		}
	}
	return nil
}

// history returns the line as it is played; ok is false if it is skipped.
func (l line) history() (h History, ok bool) {
	h = History{
		ID: l.ID, Source: l.Src, Kind: l.Kind, Host: l.Host, Start: time.Unix(l.Start, 0).UTC(),
		Watched: time.Duration(l.End-l.Start) * time.Second, Born: l.Birth, Noise: l.Noise, Bytes: int(l.Bytes),
	}
	if h.Watched < minWatched && !h.Born {
		return h, false
	}
	seed := fnv.New64a()
	_, _ = io.WriteString(seed, l.ID) // never fails
	random := rand.New(rand.NewPCG(seed.Sum64(), 0))
	seen := 0.0
	for i, gap := range l.Gaps {
		seen += gap
		at := seen - random.Float64()*math.Min(gap, math.Max(l.Sampling, 0))
		if i >= maxChanges && seconds(seen) > minPlayed {
			h.Watched = max(minPlayed, h.Changes[maxChanges-1])
			break
		}
		if seconds(at) <= h.Watched {
			h.Changes = append(h.Changes, seconds(at))
		}
	}
	return h, true
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
