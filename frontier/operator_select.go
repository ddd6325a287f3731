package frontier

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/uri"
)

// State is a condition of a URI. A URI can be in several states at once.
type State string

// The states of a URI.
const (
	StateDue        State = "due"         // waits to be visited, and is due
	StateWaiting    State = "waiting"     // waits for its due time
	StateOnDemand   State = "on-demand"   // has no due time
	StateInProgress State = "in-progress" // is being visited
	StateHeld       State = "held"        // by an operator
	StateForbidden  State = "forbidden"   // by robots.txt, at the last visit
	StateRejected   State = "rejected"    // out of scope, in a trap, or a second name, when last checked
	StateFailing    State = "failing"     // its last visit failed
	StateGone       State = "gone"        // its last visit was answered 404 or 410
	StateNew        State = "new"         // was never visited
)

// States returns all states of a URI.
func States() []State {
	return []State{
		StateDue, StateWaiting, StateOnDemand, StateInProgress, StateHeld, StateForbidden, StateRejected, StateFailing,
		StateGone, StateNew,
	}
}

// statusRejected is the status with which a URI is settled without a visit because it is out of scope. The number is
// Heritrix's.
const statusRejected = -5000

// MaxNamed is the maximum number of URIs that a [Selection] may name one by one.
const MaxNamed = 10_000

// Selection chooses URIs: those that meet all conditions that are set. The zero value chooses all.
type Selection struct {
	URIs   []uri.URI      // it is one of these, at most [MaxNamed]
	Host   string         // it is on this host, or, for "*.example.org", on example.org or a host below that
	Prefix string         // its canonical form begins with this
	Match  *regexp.Regexp // its canonical form matches, anywhere
	Titles *regexp.Regexp // or the title of its last capture matches, without anchors; nil = titles do not matter
	States []State        // it is in all of these states
	Step   int            // maximum number of rows that one step of the walk reads; 0 = 5,000
}

// IsAll reports whether no condition is set, so that all URIs are selected.
func (s Selection) IsAll() bool {
	return len(s.URIs) == 0 && s.Host == "" && s.Prefix == "" && s.Match == nil && len(s.States) == 0
}

func (s Selection) check() error {
	if len(s.URIs) > MaxNamed {
		return invalidf("%d URIs are named, at most %d can be", len(s.URIs), MaxNamed)
	}
	for _, state := range s.States {
		if !slices.Contains(States(), state) {
			return invalidf("unknown state %q; valid states: %q", state, States())
		}
	}
	return nil
}

// HostMatches reports whether a host matches a pattern: a host name, or "*.example.org" for example.org and all hosts
// below it. The patterns "" and "*" match all hosts.
func HostMatches(pattern string, h uri.Host) bool {
	below, wild := strings.CutPrefix(pattern, "*.")
	switch {
	case pattern == "" || pattern == "*":
		return true
	case wild:
		return string(h) == below || strings.HasSuffix(string(h), "."+below)
	}
	return string(h) == pattern
}

// matchesText reports whether a URI with this text, on a host that matches, can be selected.
func (s Selection) matchesText(t []byte) bool {
	return strings.HasPrefix(string(t), s.Prefix) && (s.Match == nil || s.Match.Match(t))
}

// matchesStates reports whether a row is in all wanted states.
func (s Selection) matchesStates(w uriRow, claimed bool, now int64) bool {
	for _, state := range s.States {
		if !hasState(state, w, claimed, now) {
			return false
		}
	}
	return true
}

func hasState(s State, w uriRow, claimed bool, now int64) bool {
	waits := w.Due != 0 && !w.Held && !claimed
	switch s {
	case StateDue:
		return waits && w.Due <= now
	case StateWaiting:
		return waits && w.Due > now
	case StateOnDemand:
		return w.Due == 0
	case StateInProgress:
		return claimed
	case StateHeld:
		return w.Held
	case StateForbidden:
		return w.Forbidden
	case StateRejected:
		return w.LastStatus == statusRejected
	case StateFailing:
		return w.Failures > 0
	case StateGone:
		return w.Gone > 0
	case StateNew:
		return w.Visits == 0
	}
	return false
}

// Cursor is a position in a walk over selected URIs. The empty cursor is the beginning, and the end. A cursor stays
// valid while URIs come, move and go, and after the frontier is closed and opened again. A walk may skip URIs that
// come meanwhile. A cursor is short and printable.
type Cursor string

// cursorPosition is the decoded form of a [Cursor]: the row behind which to continue, or the index among the named
// URIs.
type cursorPosition struct {
	host  uint32
	fp    fingerprint
	named int
}

func (c Cursor) position(s Selection) (cursorPosition, error) {
	var at cursorPosition
	if c == "" {
		return at, nil
	}
	bad := invalidf("cursor %q does not belong to this selection; begin without a cursor", c)
	if len(s.URIs) > 0 {
		n, err := strconv.Atoi(string(c))
		if err != nil || n < 0 || n > len(s.URIs) {
			return at, bad
		}
		at.named = n
		return at, nil
	}
	b, err := hex.DecodeString(string(c))
	if err != nil || len(b) != 4+fingerprintLen {
		return at, bad
	}
	at.host, at.fp = binary.BigEndian.Uint32(b), fingerprint(b[4:])
	return at, nil
}

func cursorBehind(host uint32, fp fingerprint) Cursor {
	return Cursor(hex.EncodeToString(uriKey(host, fp)[1:]))
}

// maxRowsRead is how many rows one step of a walk may read, so that a selection without results blocks nobody.
const maxRowsRead = 5_000

// selectedURI is a selected URI as it was when it was read.
type selectedURI struct {
	h   *host
	fp  fingerprint
	row uriRow
}

// nextSelected returns up to n selected URIs behind a cursor. It holds no lock while it reads. The walk is complete
// when next is empty.
func (f *Frontier) nextSelected(s Selection, from Cursor, n int, now time.Time) (list []selectedURI, next Cursor,
	err error,
) {
	if err := s.check(); err != nil {
		return nil, "", err
	}
	at, err := from.position(s)
	if err != nil {
		return nil, "", err
	}
	hosts, err := f.allHosts()
	if err != nil {
		return nil, "", err
	}
	w := selectionWalk{Selection: s, hosts: hosts, limit: n, now: millis(now)}
	err = f.db.View(func(txn *badger.Txn) error {
		if len(s.URIs) > 0 {
			next, err = w.namedURIs(txn, f, at)
		} else {
			next, err = w.allRows(txn, at)
		}
		return err
	})
	if err != nil {
		return nil, "", err
	}
	return f.inWantedStates(w), next, nil
}

// allHosts returns the hosts that are known now. Their names and numbers never change, so the list may be read without
// a lock. Later, under the lock, isKnownHost says whether a host was evicted meanwhile.
func (f *Frontier) allHosts() ([]*host, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, ErrClosed
	}
	return f.listHosts(), nil
}

// isKnownHost reports whether a host is still known, and was not evicted. The caller holds the lock.
func (f *Frontier) isKnownHost(h *host) bool { return f.hosts[h.name] == h }

// inWantedStates removes the URIs that are not in the wanted states. It takes the lock to see which ones are claimed.
func (f *Frontier) inWantedStates(w selectionWalk) []selectedURI {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(w.list, func(x selectedURI) bool {
		return !f.isKnownHost(x.h) || x.h.leaving || !w.matchesStates(x.row,
			x.h.slotClaiming(x.fp) != nil, w.now)
	})
}

// selectionWalk is one step of a walk.
type selectionWalk struct {
	Selection
	hosts    []*host
	limit    int
	now      int64
	rowsRead int
	list     []selectedURI
}

func (w *selectionWalk) full() bool {
	return len(w.list) >= w.limit || w.rowsRead >= cmp.Or(w.Step, maxRowsRead)
}

// namedURIs looks up the named URIs one by one.
func (w *selectionWalk) namedURIs(txn *badger.Txn, f *Frontier, at cursorPosition) (Cursor, error) {
	for i := at.named; i < len(w.URIs); i++ {
		if w.full() {
			return Cursor(strconv.Itoa(i)), nil
		}
		w.rowsRead++
		u := w.URIs[i]
		if u.IsZero() || !HostMatches(w.Host, u.Host()) || !w.matchesText([]byte(u.String())) {
			continue
		}
		h := f.hostNamed(u.Host())
		if h == nil {
			continue
		}
		fp := newFingerprint(u.String())
		row, ok, err := uriRowFor(txn, h.id, fp, u)
		if err != nil {
			return "", err
		}
		if ok {
			w.list = append(w.list, selectedURI{h: h, fp: fp, row: row})
		}
	}
	return "", nil
}

func (f *Frontier) hostNamed(name uri.Host) *host {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hosts[name]
}

// allRows reads the rows of all hosts that match, beginning at a position.
func (w *selectionWalk) allRows(txn *badger.Txn, at cursorPosition) (Cursor, error) {
	only := hostWithPrefix(w.Prefix)
	for id := max(at.host, 1); int(id) <= len(w.hosts); id++ {
		h := w.hosts[id-1]
		if !HostMatches(w.Host, h.name) || only != "" && only != h.name {
			continue
		}
		var from *fingerprint
		if id == at.host {
			from = &at.fp
		}
		if next, err := w.hostRows(txn, h, from); err != nil || next != "" {
			return next, err
		}
	}
	return "", nil
}

// hostWithPrefix returns the host of all URIs with the prefix, or the empty string if there may be several.
func hostWithPrefix(prefix string) uri.Host {
	if u := uri.FromCanonical(prefix); !u.IsZero() {
		return u.Host()
	}
	return ""
}

func (w *selectionWalk) hostRows(txn *badger.Txn, h *host, behind *fingerprint) (Cursor, error) {
	var start []byte
	if behind != nil {
		start = append(uriKey(h.id, *behind), 0)
	}
	w.rowsRead++ // opening the iterator costs about as much as a row
	for k, err := range scan(txn, key(kindURI, h.id, nil), start, prefetched) {
		if err == nil {
			err = w.takeRow(k.item, h, k.fp())
		}
		if err != nil {
			return "", err
		}
		if w.rowsRead++; w.full() {
			return cursorBehind(h.id, k.fp()), nil
		}
	}
	if w.full() { // between two hosts
		return cursorBehind(h.id, lastPlace.fp()), nil
	}
	return "", nil
}

// takeRow adds a row to the list if it is selected. It decodes only rows whose text is selected. Titles are looked for
// in the bytes of a row first: decoding takes longer.
func (w *selectionWalk) takeRow(item *badger.Item, h *host, fp fingerprint) error {
	matches := true
	err := item.Value(func(v []byte) error {
		if t, ok := rowText(v); ok {
			matches = w.matchesText(t) || w.Titles != nil && w.Titles.Match(v)
		}
		return nil
	})
	if err != nil || !matches {
		return err
	}
	var row uriRow
	if err := decodeRow(item, &row); err != nil {
		return err
	}
	matches = w.matchesText([]byte(row.URI)) || w.Titles != nil && w.Titles.Match([]byte(row.Title))
	if matches && (w.aboutClaims() || w.matchesStates(row, false, w.now)) {
		w.list = append(w.list, selectedURI{h: h, fp: fp, row: row})
	}
	return nil
}

// aboutClaims reports whether a wanted state can be true of a claimed URI only.
func (w *selectionWalk) aboutClaims() bool { return slices.Contains(w.States, StateInProgress) }

// maxListed is the maximum number of URIs that one call of List returns.
const maxListed = 1_000

// List returns up to n selected URIs behind a cursor, n at most 1,000, in the order of the store: host by host, and
// in no particular order within a host. It reads a bounded part of the store, so it may return none although there
// are more. The walk is complete when next is empty.
func (f *Frontier) List(now time.Time, s Selection, from Cursor, n int) (list []Entry, next Cursor, err error) {
	selected, next, err := f.nextSelected(s, from, min(max(n, 1), maxListed), now)
	if err != nil {
		return nil, "", fmt.Errorf("list URIs of the frontier: %w", err)
	}
	for _, x := range selected {
		r, err := x.row.record()
		if err != nil {
			return nil, "", fmt.Errorf("list URIs of the frontier: %w", damaged(uriKey(x.h.id, x.fp), err))
		}
		list = append(list, Entry{Record: r, Held: x.row.Held, Forbidden: x.row.Forbidden, InProgress: f.isClaimed(x)})
	}
	return list, next, nil
}

func (f *Frontier) isClaimed(x selectedURI) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return x.h.slotClaiming(x.fp) != nil
}

// Count counts selected URIs behind a cursor, in a bounded part of the store. The walk is complete when next is
// empty.
func (f *Frontier) Count(now time.Time, s Selection, from Cursor) (n int64, next Cursor, err error) {
	selected, next, err := f.nextSelected(s, from, maxRowsRead, now)
	if err != nil {
		return 0, "", fmt.Errorf("count URIs of the frontier: %w", err)
	}
	return int64(len(selected)), next, nil
}

// SurveyedURI holds what a survey reports about a URI.
type SurveyedURI struct {
	Host        uri.Host
	URI         uri.URI
	Hops        uri.HopPath
	Due         time.Time     // zero means on demand only
	LastVisit   time.Time     // zero means never
	Wait        time.Duration // the wait interval learned so far
	ContentType string
	Rate        float64 // expected changes per day; 0 = unknown
	Held        bool    // by an operator
	Source      bool    // a feed or sitemap, or named as one
	Restless    bool    // it differs at each fetch

	FirstSeen, LastChange time.Time
	Versions              int
}

// maxSurveyed is how many rows one call of Survey or Heal reads.
const maxSurveyed = 20_000

// Survey calls each with the URIs of a host, or of all hosts if the host is empty, some thousands at a time. Call it
// again with next until that is empty. It holds no lock while it reads.
func (f *Frontier) Survey(only uri.Host, from Cursor, each func(SurveyedURI)) (next Cursor, err error) {
	return f.walk("survey the frontier", only, from, func(h *host, _ fingerprint, w *uriRow) {
		each(SurveyedURI{
			Host: h.name, URI: uri.FromCanonical(string(w.URI)), Hops: uri.HopPath(w.Hops),
			Due: fromMillis(w.Due), LastVisit: fromMicros(w.LastVisit), Wait: time.Duration(w.Wait),
			ContentType: string(w.ContentType), Rate: w.Rate, Held: w.Held, Source: w.Source != "",
			Restless:  w.Restless,
			FirstSeen: fromMicros(w.FirstSeen), LastChange: fromMicros(w.LastChange), Versions: w.Versions,
		})
	})
}

// walk calls each with the rows of a host, or of all hosts if only is empty, some thousands behind a cursor. The walk
// is complete when next is empty. It holds no lock while it reads. An error of the store begins with what failed.
func (f *Frontier) walk(
	what string, only uri.Host, from Cursor, each func(*host, fingerprint, *uriRow),
) (next Cursor, err error) {
	at, err := from.position(Selection{})
	if err != nil {
		return "", err
	}
	hosts, err := f.allHosts()
	if err != nil {
		return "", err
	}
	prefix, start := []byte{kindURI}, []byte(nil)
	if only != "" {
		h := f.hostNamed(only)
		if h == nil {
			return "", nil
		}
		prefix = key(kindURI, h.id, nil)
	}
	if from != "" {
		start = append(uriKey(at.host, at.fp), 0)
	}
	err = f.db.View(func(txn *badger.Txn) error {
		n, w := 0, uriRow{}
		for k, err := range scan(txn, prefix, start, prefetched) {
			if n++; err != nil || n > maxSurveyed {
				return err
			}
			next = cursorBehind(k.host, k.fp())
			if k.host == 0 || int(k.host) > len(hosts) {
				continue // the host became known after the call began
			}
			w = uriRow{}
			if err := decodeRow(k.item, &w); err != nil {
				return err
			}
			each(hosts[k.host-1], k.fp(), &w)
		}
		next = ""
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	return next, nil
}
