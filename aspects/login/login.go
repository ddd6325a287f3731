// Package login decides what is sent to a host besides what arcrawl always sends: header fields, the cookies of the
// host, and the login that comes before the first page.
package login

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/html"

	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/hosts"
	"github.com/arcrawl/arcrawl/internal/panics"
	"github.com/arcrawl/arcrawl/uri"
)

const (
	firstLoginRest = 10 * time.Minute // of a host after a login that failed; it doubles
	maxLoginRest   = 24 * time.Hour
	loginTurn      = 5 * time.Second // rest of a host while another visit logs in
	maxLoginTime   = 2 * time.Minute // for a step; then another visit tries
	maxLoginPage   = 256 << 10       // bytes of an answer that are looked at
	maxStranger    = 64 << 10        // the same, of each page
	maxHidden      = 100             // fields of a form
)

// logins holds the logins to hosts. The zero value holds none. A host may have several, by refinements of its settings.
type logins struct {
	mu  sync.Mutex // guards the field below and what it points to, except sessions
	all map[account]*login
}

// account names a login: a host, and the number that stands for its settings.
type account struct {
	host uri.Host
	mark uint64
}

// login is a login to a host. Its course:
//
//	none ── page ──▶ form ── sent, with success ──▶ in ── the site ends it, or login.renew ──▶ none
//	  ▲ host rests ◀── page or answer is not as expected, or a stranger's page right after the login
//
// A URI whose answer ended a login, and is for strangers right after the next one too, bears that alone. Otherwise one
// page that members may not see would keep its host from all others.
type login struct {
	session hosts.CookieSession // never stored: after a restart the crawler logs in again

	visit    schema.About // which made the latest step
	hidden   url.Values   // fields of the form on the page; nil = the page was not read
	since    time.Time    // of the login; zero = not logged in
	useful   bool         // a page came since
	ended    uri.URI      // its answer ended the last login; zero = none did
	failures int          // in a row
	rest     time.Time    // the host rests until then
	busy     time.Time    // a visit makes a step until then at the latest; zero = none
	down     LoginFailure
}

// InForce returns the options of a configuration that are in force for a visit.
type InForce func(schema.About) *Options

// LoginFailure is a host whose login fails.
type LoginFailure struct {
	Host  uri.Host
	Why   string
	Since time.Time
}

// name returns the name of the login to the host of a URI. ok is false if the settings have none for it.
func name(u uri.URI, s *Form) (who account, to uri.URI, ok bool) {
	if !s.On() {
		return who, to, false
	}
	to, err := uri.Parse(s.URI)
	return account{u.Host(), s.mark()}, to, err == nil && to.Host() == u.Host()
}

// known returns the login to the host of a URI, nil if none has begun.
func (l *logins) known(u uri.URI, s *Form) *login {
	who, _, ok := name(u, s)
	if !ok {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all[who]
}

// begin returns the login to the host of a visit, nil if the options have none for it. Before it begins another login,
// it forgets the logins to the host that are no longer configured. The mutex is held.
func (l *logins) begin(visit schema.About, of InForce, s *Form) (*login, uri.URI) {
	who, to, ok := name(visit.URI, s)
	if !ok {
		return nil, to
	}
	at := l.all[who]
	if at == nil {
		maps.DeleteFunc(l.all, func(other account, at *login) bool {
			return other.host == who.host && !at.configured(other, of, visit.Now)
		})
		if l.all == nil {
			l.all = map[account]*login{}
		}
		who.host, at = who.host.Clone(), &login{}
		l.all[who] = at
	}
	visit.URI = visit.URI.Clone()
	at.visit = visit
	return at, to
}

// configured reports whether a configuration has the login for the visit that made its latest step.
func (at *login) configured(who account, of InForce, now time.Time) bool {
	visit := at.visit
	visit.Now = now
	is, _, ok := name(visit.URI, &of(visit).Login)
	return ok && is == who
}

// LoginFailures returns the hosts whose logins fail, as far as a configuration has these logins. Each host is named
// once, with the login that fails for the longest time.
func (a *Aspect) LoginFailures(of InForce, now time.Time) (all []LoginFailure) {
	a.logins.mu.Lock()
	defer a.logins.mu.Unlock()
	for who, login := range a.logins.all {
		if login.failures > 0 && login.configured(who, of, now) {
			all = append(all, login.down)
		}
	}
	slices.SortFunc(all, func(a, b LoginFailure) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), a.Since.Compare(b.Since), cmp.Compare(a.Why, b.Why))
	})
	return slices.CompactFunc(all, func(a, b LoginFailure) bool { return a.Host == b.Host })
}

// LoginStep is the next thing to do before the URIs of a host can be visited.
type LoginStep struct {
	Rest     time.Time // the host rests until then; zero = Exchange is to be made
	Exchange fetch.Request

	aspect *Aspect
	at     *login
	page   bool // the exchange reads the page with the form
}

// LoginStep returns the next step of the login to the host of a visit; nil if there is none to make. plain is a request
// of the visit as it is without the aspect.
func (a *Aspect) LoginStep(visit schema.About, plain fetch.Request, of InForce) (*LoginStep, error) {
	o := of(visit)
	if !o.Login.On() {
		return nil, nil
	}
	u, now, l := visit.URI, visit.Now, &o.Login
	step, to, form := a.beginStep(visit, of, l)
	if step == nil || !step.Rest.IsZero() {
		return step, nil
	}
	if step.page {
		page, err := uri.Parse(l.Page)
		if err != nil || page.Host() != u.Host() {
			return &LoginStep{Rest: step.Fail(u, errors.New("login.page is on another host than login.uri"), now)}, nil
		}
		to = page
	}
	step.Exchange = plain
	step.Exchange.URI = to
	_, err := a.AddTo(&step.Exchange, o, now)
	if err != nil {
		return nil, err
	}
	if step.page {
		return step, nil
	}
	for _, f := range l.Fields {
		form.Set(f.Name, f.Value)
	}
	for _, f := range l.SecretFields {
		form.Set(f.Name, f.Secret.Reveal())
	}
	step.Exchange.Form = []byte(form.Encode())
	from := to // as the settings are read: they may have white space around a URI
	if l.Page != "" {
		if from, err = uri.Parse(l.Page); err != nil {
			return nil, fmt.Errorf("read login.page of %s: %w", u.Host(), err)
		}
	}
	step.Exchange.Header = append(step.Exchange.Header,
		fetch.Field{Name: "Origin", Value: strings.TrimSuffix(to.Origin().String(), "/")},
		fetch.Field{Name: "Referer", Value: from.String()})
	return step, nil
}

// beginStep returns the next step without its exchange, the address of the form, and the hidden fields of the form.
func (a *Aspect) beginStep(
	visit schema.About, of InForce, l *Form,
) (step *LoginStep, to uri.URI, form url.Values) {
	a.logins.mu.Lock()
	defer a.logins.mu.Unlock()
	now := visit.Now
	at, to := a.logins.begin(visit, of, l)
	switch {
	case at == nil, !at.since.IsZero() && (l.Renew == 0 || now.Sub(at.since) < l.Renew):
		return nil, to, nil
	case now.Before(at.rest):
		return &LoginStep{Rest: at.rest}, to, nil
	case now.Before(at.busy):
		return &LoginStep{Rest: now.Add(loginTurn)}, to, nil
	}
	at.busy, at.since = now.Add(maxLoginTime), time.Time{}
	form = url.Values{}
	maps.Copy(form, at.hidden)
	return &LoginStep{aspect: a, at: at, page: l.Page != "" && at.hidden == nil}, to, form
}

// Leave ends a step that says nothing about the login.
func (st *LoginStep) Leave() {
	st.aspect.logins.mu.Lock()
	st.at.busy = time.Time{}
	st.aspect.logins.mu.Unlock()
}

// Take takes the answer of a step. If the login failed, it returns why, and until when the host rests.
func (st *LoginStep) Take(got *fetch.Capture, o *Options) (rest time.Time, failed, err error) {
	defer panics.Recover(&err)
	now := got.Started.Add(got.Took)
	hidden, failed, err := st.read(got, &o.Login)
	if err != nil {
		st.Leave()
		return rest, nil, err
	}
	if failed != nil {
		return st.Fail(got.URI, failed, now), failed, nil
	}
	if err := st.aspect.learn(got, o); err != nil {
		return rest, nil, err
	}
	st.aspect.logins.mu.Lock()
	defer st.aspect.logins.mu.Unlock()
	if st.at.busy = (time.Time{}); st.page {
		st.at.hidden = hidden
		return rest, nil, nil
	}
	st.at.since, st.at.useful, st.at.hidden = now, false, nil
	return rest, nil, nil
}

// Fail ends a step that failed, or whose exchange could not be made. It returns until when the host rests.
func (st *LoginStep) Fail(u uri.URI, why error, now time.Time) time.Time {
	st.aspect.logins.mu.Lock()
	defer st.aspect.logins.mu.Unlock()
	return st.at.fail(u, why, now)
}

func (at *login) fail(u uri.URI, why error, now time.Time) time.Time {
	if at.failures++; at.failures == 1 {
		at.down = LoginFailure{Host: u.Host().Clone(), Since: now}
	}
	at.down.Why = why.Error()
	rest := min(firstLoginRest<<min(at.failures-1, 10), maxLoginRest)
	at.rest, at.busy, at.hidden, at.since = now.Add(rest), time.Time{}, nil, time.Time{}
	return at.rest
}

// read reads the answer of a step.
func (st *LoginStep) read(got *fetch.Capture, l *Form) (hidden url.Values, failed, err error) {
	if got.Misfortune != nil {
		return nil, got.Misfortune, nil
	}
	content, err := got.Beginning(maxLoginPage)
	if err != nil {
		return nil, nil, err
	}
	if st.page {
		if got.Status != http.StatusOK {
			return nil, fmt.Errorf("the page with the form answers with status %d; check login.page", got.Status), nil
		}
		if hidden = hiddenFields(content, l); hidden == nil {
			return nil, errors.New("the page has no form with the fields of login.fields and login.secret_fields; check their names"), nil
		}
		return hidden, nil, nil
	}
	if !matches(l.Success, got.Head, content) {
		return nil, fmt.Errorf("the site answers the form with status %d, and login.success does not match; check the credentials", got.Status), nil
	}
	return nil, nil, nil
}

// matches reports whether an expression matches in a head, with simple line ends, or in a content.
func matches(re *regexp.Regexp, head, content []byte) bool {
	return re.Match(bytes.ReplaceAll(head, []byte("\r\n"), []byte("\n"))) || re.Match(content)
}

// hiddenFields returns the hidden fields of the first form that has a field and all configured secret fields; nil if
// there is none.
func hiddenFields(page []byte, l *Form) url.Values {
	z := html.NewTokenizer(bytes.NewReader(page))
	names, hidden := map[string]bool{}, url.Values{}
	for {
		kind := z.Next()
		token := z.Token()
		switch {
		case kind == html.ErrorToken, kind == html.EndTagToken && token.Data == "form":
			if hasFields(names, l) {
				return hidden
			}
			if kind == html.ErrorToken {
				return nil
			}
		case kind != html.StartTagToken && kind != html.SelfClosingTagToken:
		case token.Data == "form":
			names, hidden = map[string]bool{}, url.Values{}
		case token.Data == "input" || token.Data == "button" || token.Data == "select":
			a := map[string]string{}
			for _, x := range token.Attr {
				a[x.Key] = x.Val
			}
			names[a["name"]] = true
			if strings.EqualFold(a["type"], "hidden") && a["name"] != "" && len(hidden) < maxHidden {
				hidden.Set(a["name"], a["value"])
			}
		}
	}
}

// hasFields reports whether the names of a form are some, and include all configured secret fields.
func hasFields(names map[string]bool, l *Form) bool {
	for _, f := range l.SecretFields {
		if !names[f.Name] {
			return false
		}
	}
	return len(names) > 0
}

// Judgement says what an answer means for the login to its host.
type Judgement struct {
	Out       bool  // it ended the login: the URI is visited again after the next one
	Failed    error // why the login was without success, so that the host rests; nil = it was not
	Strangers bool  // the URI shows members what it shows strangers
}

// Judge looks whether an answer is for strangers, although the crawler is logged in to the host. If it is, the next
// visit logs in again, or the host rests if this happens right after a login.
func (a *Aspect) Judge(got *fetch.Capture, o *Options) (j Judgement, err error) {
	defer panics.Recover(&err)
	l := &o.Login
	if !l.On() || got.Status <= 0 {
		return j, nil
	}
	out, err := isForStrangers(got, l)
	if err != nil {
		return j, err
	}
	at := a.logins.known(got.URI, l)
	a.logins.mu.Lock()
	defer a.logins.mu.Unlock()
	switch {
	case at == nil || at.since.IsZero() || got.Started.Before(at.since):
		return j, nil
	case !out:
		at.useful, at.failures, at.rest = true, 0, time.Time{}
		return j, nil
	case at.useful:
		at.since, at.hidden, at.useful, at.ended = time.Time{}, nil, false, got.URI.Clone()
		return Judgement{Out: true}, nil
	case at.ended == got.URI:
		at.ended = uri.URI{}
		return Judgement{Strangers: true}, nil
	}
	at.ended = got.URI.Clone()
	failed := fmt.Errorf("the site shows %s to strangers right after the login; check login.success and the rights of the account", got.URI)
	at.fail(got.URI, failed, got.Started.Add(got.Took))
	return Judgement{Out: true, Failed: failed}, nil
}

// isForStrangers reports whether an answer is one for strangers.
func isForStrangers(got *fetch.Capture, l *Form) (bool, error) {
	if got.Status == http.StatusUnauthorized {
		return true, nil
	}
	if location := got.Header.Get("Location"); location != "" {
		to, err := got.URI.Join(location)
		if err == nil && (isSame(to, l.URI) || l.Page != "" && isSame(to, l.Page)) {
			return true, nil
		}
	}
	if l.LoggedOut == nil {
		return false, nil
	}
	content, err := got.Beginning(maxStranger)
	return err == nil && matches(l.LoggedOut, got.Head, content), err
}

// isSame reports whether a URI is another one, apart from its query.
func isSame(u uri.URI, other string) bool {
	o, err := uri.Parse(other)
	return err == nil && o.Origin() == u.Origin() && o.Path() == u.Path()
}
