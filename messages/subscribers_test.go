package messages

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/http/httptest"
	netmail "net/mail"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// postbox is a mail server on the loopback that keeps what it is sent. It refuses while down is set.
type postbox struct {
	address string
	mu      sync.Mutex // guards the fields below
	texts   []string
	down    bool
}

// openPostbox starts a postbox.
func openPostbox(t *testing.T) *postbox {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	archivetest.Must(t, err)
	p := &postbox{address: l.Addr().String()}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { p.talk(conn) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	return p
}

// talk answers the commands of a client.
func (p *postbox) talk(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	in := bufio.NewReader(conn)
	fmt.Fprint(conn, "220 test ESMTP\r\n")
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		p.mu.Lock()
		down := p.down
		p.mu.Unlock()
		switch verb, _, _ := strings.Cut(strings.TrimSpace(line), " "); {
		case verb == "RCPT" && down:
			fmt.Fprint(conn, "550 not today\r\n")
		case verb == "DATA":
			fmt.Fprint(conn, "354 go ahead\r\n")
			var text strings.Builder
			for line := ""; line != ".\r\n" && err == nil; line, err = in.ReadString('\n') {
				text.WriteString(strings.TrimPrefix(line, "."))
			}
			p.mu.Lock()
			p.texts = append(p.texts, text.String())
			p.mu.Unlock()
			fmt.Fprint(conn, "250 taken\r\n")
		case verb == "QUIT":
			fmt.Fprint(conn, "221 bye\r\n")
			return
		default:
			fmt.Fprint(conn, "250 ok\r\n")
		}
	}
}

// set sets whether the server refuses.
func (p *postbox) set(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
}

// letter is a mail as its reader sees it.
type letter struct {
	netmail.Header
	subject, text, page string
}

// take returns the mails that came since it was called last.
func (p *postbox) take(t *testing.T) (list []letter) {
	t.Helper()
	p.mu.Lock()
	texts := p.texts
	p.texts = nil
	p.mu.Unlock()
	for _, text := range texts {
		m, err := netmail.ReadMessage(strings.NewReader(text))
		archivetest.Must(t, err)
		l := letter{Header: m.Header}
		l.subject, err = new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
		archivetest.Must(t, err)
		kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
		if err != nil || kind != "multipart/alternative" {
			t.Fatalf("a mail of type %q, %v", kind, err)
		}
		parts := multipart.NewReader(m.Body, params["boundary"])
		for _, to := range []*string{&l.text, &l.page} {
			part, err := parts.NextRawPart()
			archivetest.Must(t, err)
			body, err := io.ReadAll(quotedprintable.NewReader(part))
			archivetest.Must(t, err)
			*to = strings.ReplaceAll(string(body), "\r\n", "\n")
		}
		if _, err := parts.NextPart(); !errors.Is(err, io.EOF) {
			t.Errorf("a third part: %v", err)
		}
		list = append(list, l)
	}
	return list
}

// callbox is a webhook on the loopback that keeps what it is sent. It answers with status.
type callbox struct {
	url string

	mu     sync.Mutex // guards the fields below
	status int
	calls  []changesNotice
}

func openCallbox(t *testing.T) *callbox {
	t.Helper()
	c := &callbox{status: http.StatusNoContent}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n changesNotice
		if err := json.NewDecoder(r.Body).Decode(&n); err != nil || r.Method != http.MethodPost {
			t.Error(r.Method, err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if w.WriteHeader(c.status); c.status < 300 {
			c.calls = append(c.calls, n)
		}
	}))
	t.Cleanup(s.Close)
	c.url = s.URL
	return c
}

// answer sets the status of answers.
func (c *callbox) answer(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status = status
}

// take returns the URIs of the changes that came since it was called last, by call.
func (c *callbox) take() (list [][]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.calls {
		var uris []string
		for _, x := range n.Changes {
			uris = append(uris, x.URI)
		}
		list = append(list, uris)
	}
	c.calls = nil
	return list
}

// newsroom is a crawl that finds changes.
type newsroom struct {
	all []api.Capture
	now time.Time
}

// adds adds a change.
func (n *newsroom) adds(uri, title string, c api.Change) {
	n.now = n.now.Add(time.Second)
	c.Noted = n.now
	n.all = append(n.all, api.Capture{At: n.now, URI: uri, Host: "news.example", Title: title, Change: &c})
}

// find returns changes as a daemon does. It knows only the kinds of a subscription.
func (n *newsroom) find(s config.Subscription, after time.Time, most int) (list []api.Capture, upTo time.Time) {
	upTo = time.Unix(0, 0)
	for _, c := range n.all {
		if upTo = c.Change.Noted; after.IsZero() || !upTo.After(after) {
			continue
		}
		is := func(kind string) bool { return slices.Contains(s.Kinds, kind) }
		if len(s.Kinds) == 0 || slices.ContainsFunc(c.Change.Kinds, is) {
			list = append(list, c)
		}
		if len(list) == most {
			break
		}
	}
	return list, upTo
}

// serving returns what sends the changes of a newsroom. The place is in a folder.
func (n *newsroom) serving(t *testing.T, dir string, c *config.Config) *subscribers {
	t.Helper()
	sent, err := openPlaces(filepath.Join(dir, placesFile))
	archivetest.Must(t, err)
	return &subscribers{
		config:  func() *config.Config { return c },
		changes: func() findChanges { return n.find },
		mail:    sendMail, call: post, places: sent, now: func() time.Time { return n.now }, log: zerolog.Nop(),
		failing: map[string]failure{},
	}
}

// play lets a time pass and sends what is due.
func (n *newsroom) play(t *testing.T, s *subscribers, d time.Duration) {
	t.Helper()
	n.now = n.now.Add(d)
	s.round(t.Context(), true)
	for range 200 {
		if n.now = n.now.Add(time.Second); !s.round(t.Context(), false) {
			return
		}
	}
	t.Fatal("a webhook always has more")
}

// morning is when the stories begin.
var morning = time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)

// newsConfig is a configuration with a mail server and a webhook.
func newsConfig(p *postbox, c *callbox, change ...func(*config.Subscription)) *config.Config {
	conf := &config.Config{}
	conf.Operator.Name, conf.Admin.Instance, conf.Admin.URL = "National Library", "press", "https://crawler.example/"
	conf.Mail = config.Mail{Server: p.address, Security: config.None, From: "arcrawl@library.example"}
	s := config.Subscription{
		Name: "softened", Mail: []string{"press@library.example"}, Every: 24 * time.Hour, At: "07:00", Webhook: c.url,
	}
	for _, f := range change {
		f(&s)
	}
	conf.Subscriptions = []config.Subscription{s}
	return conf
}

// softened is a change of a headline.
func softened() api.Change {
	return api.Change{
		Kinds: []string{"headline", "links"}, Headlines: []string{"Minister lied", "Minister was wrong"},
		First: []api.ChangePart{{Text: "He "}, {Text: "lied", Removed: true}, {Text: "was wrong", Added: true}, {Text: "."}},
		Links: api.ChangeSize{Added: 3, Removed: 2},
	}
}

// TestADayOfNewsReachesItsSubscribers plays a day: an article is published before the subscription, its headline is
// softened, a paragraph goes, the daemon starts again, and the article is withdrawn.
func TestADayOfNewsReachesItsSubscribers(t *testing.T) {
	t.Parallel()
	box, hook, dir := openPostbox(t), openCallbox(t), t.TempDir()
	c := newsConfig(box, hook)
	n := &newsroom{now: morning}
	n.adds("http://news.example/before", "Before", api.Change{Kinds: []string{"text"}})
	s := n.serving(t, dir, c)
	n.play(t, s, 0)
	n.play(t, s, 2*time.Hour) // nothing has changed
	if mails, calls := box.take(t), hook.take(); len(mails)+len(calls) > 0 {
		t.Fatalf("without changes: %v, %v", mails, calls)
	}

	n.adds("http://news.example/harbour?a=1&b=2", "Harbour", softened())
	n.play(t, s, time.Minute)
	n.adds("http://news.example/harbour", "Harbour", api.Change{Kinds: []string{"text"}, Words: api.ChangeSize{Removed: 24}})
	s = n.serving(t, dir, c) // as after a crash
	n.play(t, s, time.Hour)
	n.adds("http://news.example/harbour", "Harbour", api.Change{Kinds: []string{"withdrawn"}, Earlier: 3})
	n.play(t, s, time.Hour)
	if calls := hook.take(); fmt.Sprint(calls) != "[[http://news.example/harbour?a=1&b=2] [http://news.example/harbour] [http://news.example/harbour]]" {
		t.Errorf("the webhook received %q", calls)
	}
	n.play(t, s, 24*time.Hour)
	n.play(t, s, time.Hour)
	mails := box.take(t)
	if len(mails) != 1 {
		t.Fatalf("%d mails in a day", len(mails))
	}
	m := mails[0]
	if m.subject != "arcrawl press: softened: 3 changes" || m.Get("To") != "press@library.example" {
		t.Errorf("subject %q, headers %v", m.subject, m.Header)
	}
	for _, want := range []string{
		"3 changes since 2026-11-21 07:00 UTC\n", "headline, links (−2 +3)\n", "  − Minister lied\n  + Minister was wrong\n",
		"He [−lied−]{+was wrong+}.\n", "withdrawn after 3 versions\n", "text (−24 +0 words)\n",
		"https://crawler.example/#/uri?u=http%3A%2F%2Fnews.example%2Fharbour%3Fa%3D1%26b%3D2\n",
	} {
		if !strings.Contains(m.text, want) {
			t.Errorf("the text lacks %q:\n%s", want, m.text)
		}
	}
	if strings.Contains(m.text, "Before") || !strings.Contains(m.text, "\narcrawl press of National Library. ") {
		t.Errorf("the text is\n%s", m.text)
	}
	for _, want := range []string{
		"<del>Minister lied</del>", "<ins>Minister was wrong</ins>", "He <del>lied</del><ins>was wrong</ins>.",
		`href="https://crawler.example/#/uri?u=http%3A%2F%2Fnews.example%2Fharbour%3Fa%3D1%26b%3D2"`,
	} {
		if !strings.Contains(m.page, want) {
			t.Errorf("the page lacks %q:\n%s", want, m.page)
		}
	}
}

// TestAnOutageLosesNoChange lets the mail server and the webhook refuse for days, and a second address of the
// subscription is still sent nothing twice.
func TestAnOutageLosesNoChange(t *testing.T) {
	t.Parallel()
	box, hook, dir := openPostbox(t), openCallbox(t), t.TempDir()
	c := newsConfig(box, hook)
	n := &newsroom{now: morning}
	s := n.serving(t, dir, c)
	n.play(t, s, 0)
	box.set(true)
	hook.answer(http.StatusBadGateway)
	for i := range 2000 {
		n.adds(fmt.Sprintf("http://news.example/%d", i), "", api.Change{Kinds: []string{"text"}})
	}
	for range 3 {
		n.play(t, s, 24*time.Hour)
	}
	list := s.Troubles()
	if len(list) != 2 || list[0].About != "softened" || !strings.Contains(list[0].Text, "not today") &&
		!strings.Contains(list[1].Text, "not today") {
		t.Errorf("the troubles are %v", list)
	}
	s = n.serving(t, dir, c)
	box.set(false)
	hook.answer(http.StatusOK)
	n.play(t, s, time.Hour)
	calls := hook.take()
	if len(calls) != 20 || len(calls[0]) != mostChanges || slices.Concat(calls...)[1999] != "http://news.example/1999" {
		t.Errorf("after the outage the webhook received %d calls", len(calls))
	}
	mails := box.take(t)
	if len(mails) != 1 || !strings.Contains(mails[0].text, "2000 changes since") ||
		!strings.Contains(mails[0].text, "and 1950 more: 1950 text\n") {
		t.Fatalf("after the outage: %d mails, %v", len(mails), mails)
	}
	if list := s.Troubles(); len(list) > 0 {
		t.Errorf("the trouble stays: %v", list)
	}
}

// TestChangesThatAWebhookRefusesAreDropped sends changes to a webhook that says that the request is wrong.
func TestChangesThatAWebhookRefusesAreDropped(t *testing.T) {
	t.Parallel()
	hook := openCallbox(t)
	c := newsConfig(&postbox{}, hook, func(s *config.Subscription) { s.Mail = nil })
	n := &newsroom{now: morning}
	s := n.serving(t, t.TempDir(), c)
	n.play(t, s, 0)
	hook.answer(http.StatusUnprocessableEntity)
	n.adds("http://news.example/1", "", softened())
	n.play(t, s, 0)
	if list := s.Troubles(); len(list) != 1 || !strings.Contains(list[0].Text, "status 422") {
		t.Errorf("the troubles are %v", list)
	}
	hook.answer(http.StatusOK)
	n.adds("http://news.example/2", "", softened())
	n.play(t, s, time.Minute)
	if calls := hook.take(); fmt.Sprint(calls) != "[[http://news.example/2]]" || len(s.Troubles()) > 0 {
		t.Errorf("the webhook received %q", calls)
	}
}

// TestAMailOfHostileChangesIsHarmless sends titles and headlines that try to leave their place.
func TestAMailOfHostileChangesIsHarmless(t *testing.T) {
	t.Parallel()
	box, hook := openPostbox(t), openCallbox(t)
	c := newsConfig(box, hook, func(s *config.Subscription) { s.Webhook = "" })
	n := &newsroom{now: morning}
	s := n.serving(t, t.TempDir(), c)
	n.play(t, s, 0)
	evil := "</h3>\r\nBcc: all@library.example\r\n\r\n<script>alert(1)</script>\u202e\x00"
	n.adds("http://news.example/\"><img src=x>", evil, api.Change{
		Kinds: []string{"moved"}, To: "javascript:alert(1)", Headlines: []string{evil, "שלום עולם"},
		Came: []api.ChangeLink{{URI: "javascript:alert(2)", Text: evil}},
	})
	n.play(t, s, 24*time.Hour)
	mails := box.take(t)
	if len(mails) != 1 {
		t.Fatalf("%d mails", len(mails))
	}
	m := mails[0]
	if m.Get("Bcc") != "" || strings.ContainsAny(m.subject, "\r\n\u202e") {
		t.Errorf("subject %q, headers %v", m.subject, m.Header)
	}
	if strings.Contains(m.page, "<script") || strings.Contains(m.page, "<img") || strings.Contains(m.page, `href="javascript`) {
		t.Errorf("markup of a stranger: %s", m.page)
	}
	if !strings.Contains(m.page, `<p dir="auto"><ins>שלום עולם</ins></p>`) || !strings.Contains(m.text, "\n  + שלום עולם\n") {
		t.Errorf("text from right to left:\n%s\n%s", m.text, m.page)
	}
	if strings.Contains(m.text, "\nBcc:") {
		t.Errorf("a line of a stranger:\n%s", m.text)
	}
}

// TestLargeChangesAreDivided sends changes that are as large as they can be.
func TestLargeChangesAreDivided(t *testing.T) {
	t.Parallel()
	box, hook := openPostbox(t), openCallbox(t)
	c := newsConfig(box, hook)
	n := &newsroom{now: morning}
	s := n.serving(t, t.TempDir(), c)
	n.play(t, s, 0)
	for i := range 60 {
		n.adds(fmt.Sprintf("http://news.example/%d", i), "", api.Change{
			Kinds: []string{"text"}, First: slices.Repeat([]api.ChangePart{{Text: strings.Repeat("ä", 200)}}, 60),
		})
	}
	n.play(t, s, 24*time.Hour)
	if calls := hook.take(); len(calls) != 2 || len(slices.Concat(calls...)) != 60 {
		t.Errorf("%d calls", len(calls))
	}
	if mails := box.take(t); len(mails) != 1 || len(mails[0].page) > maxMailedBytes+1000 ||
		!strings.Contains(mails[0].text, " more: ") {
		t.Errorf("%d mails", len(mails))
	}
}

// TestSubscriptionsFollowTheConfiguration adds a subscription and removes one: what is new begins with what comes.
func TestSubscriptionsFollowTheConfiguration(t *testing.T) {
	t.Parallel()
	hook, dir := openCallbox(t), t.TempDir()
	c := newsConfig(&postbox{}, hook, func(s *config.Subscription) { s.Mail, s.Kinds = nil, []string{"withdrawn"} })
	n := &newsroom{now: morning}
	s := n.serving(t, dir, c)
	n.play(t, s, 0)
	n.adds("http://news.example/1", "", softened())
	n.play(t, s, 0)
	c.Subscriptions[0].Kinds = nil // what the subscription left out stays left out
	n.play(t, s, 0)
	c.Subscriptions[0].Name = "another"
	n.adds("http://news.example/2", "", softened())
	n.play(t, s, 0)
	n.adds("http://news.example/3", "", softened())
	n.play(t, s, 0)
	if calls := hook.take(); fmt.Sprint(calls) != "[[http://news.example/3]]" {
		t.Errorf("the webhook received %q", calls)
	}
	if sent, err := openPlaces(filepath.Join(dir, placesFile)); err != nil || len(sent.all) != 1 {
		t.Errorf("the places are %v, %v", sent.all, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	n.adds("http://news.example/4", "", api.Change{Kinds: []string{"nothing"}})
	c.Subscriptions[0].Kinds = []string{"text"}
	n.play(t, s, 0)
	s.run(ctx, false)
	sent, err := openPlaces(filepath.Join(dir, placesFile))
	if err != nil || !sent.Of("another: webhook").Noted.Upto.Equal(n.all[3].Change.Noted) {
		t.Errorf("after a stop the place is %v, %v", sent.all, err)
	}
}

// TestTheFileOfPlacesKeepsItsForm reads a place as it was always stored, and stores it again.
func TestTheFileOfPlacesKeepsItsForm(t *testing.T) {
	t.Parallel()
	const form = `{"softened: webhook":{"noted":{"0":"2026-11-21T06:00:00Z"},"digest":"2026-11-20T07:00:00Z"}}`
	file := filepath.Join(t.TempDir(), placesFile)
	archivetest.Must(t, os.WriteFile(file, []byte(form), 0o600))
	p, err := openPlaces(file)
	archivetest.Must(t, err)
	if at := p.Of("softened: webhook"); !at.Noted.Upto.Equal(morning) {
		t.Errorf("read was %+v", at)
	}
	archivetest.Must(t, p.save())
	if text, err := os.ReadFile(file); err != nil || strings.TrimSpace(string(text)) != form {
		t.Errorf("stored is %s, %v", text, err)
	}
}
