package access

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"html"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Addresses of the pages that need no role.
const (
	signInPath  = "/login"
	signOutPath = "/logout"
)

// maxForm is the maximum size of the form, in bytes.
const maxForm = 8 << 10

// deviceAge is how long a browser is known in which a user has signed in.
const deviceAge = 180 * 24 * time.Hour

// SignIns lets users in with their names and passwords. It is safe for concurrent use.
//
// Attempts are limited for each name and address, for each address and for each name. A browser in which the user has
// signed in before has a limit and a place of its own, so that attempts of others do not lock the user out.
type SignIns struct {
	now      func() time.Time
	cost     cost // of names without a password
	sessions sessions
	attempts attempts
	known    *Gate // of browsers that were signed in before
	others   *Gate // of all others
}

// NewSignIns returns a state without sessions. Two passwords at most are checked at the same time, with 64 MB each.
func NewSignIns(now func() time.Time) *SignIns {
	return &SignIns{
		now: now, cost: usualCost, sessions: sessions{all: map[[sha256.Size]byte]*session{}},
		attempts: attempts{counts: map[string]*tally{}}, known: NewGate(1, 8), others: NewGate(1, 8),
	}
}

// What users do with a password.
const (
	ToSignIn       = "sign-in"
	ChangePassword = "password"
)

// SignIn is a decided attempt to sign in, or to change the own password.
type SignIn struct {
	Time time.Time
	What string // [ToSignIn] or [ChangePassword]
	Name string // of the user or token; "" if there is none with the name
	From string // address
	Way  string // [BySession] or [ByToken]
	Done bool
}

//go:embed signin.html
var pageText string

// view holds the texts of the pages that ask for a password.
type view struct {
	Name, Problem string
	To            string // where a sign-in leads
	Crawl         string // name of the crawl
	Done          string // what was done; hides the form
}

// show answers with a page that asks for a password. It escapes the texts. Package html/template would do the same, but
// the linker keeps every method of every type for it.
func show(to http.ResponseWriter, status int, page string, v view) {
	focus := map[bool]string{true: " autofocus"}
	notice := func(class, role, text string) string {
		if text == "" {
			return ""
		}
		return `<p class="notice ` + class + `" role="` + role + `">` + html.EscapeString(text) + `</p>`
	}
	to.Header().Set("Content-Type", "text/html; charset=utf-8")
	to.WriteHeader(status)
	_, _ = strings.NewReplacer(
		"{{name}}", html.EscapeString(v.Name), "{{to}}", html.EscapeString(v.To),
		"{{crawl}}", html.EscapeString(v.Crawl),
		"{{problem}}", notice("bad", "alert", v.Problem), "{{done}}", notice("good", "status", v.Done),
		"{{focus on name}}", focus[v.Name == ""], "{{focus on password}}", focus[v.Name != ""],
		"{{hidden if done}}", map[bool]string{true: " hidden"}[v.Done != ""],
	).WriteString(to, page)
}

// signInForm answers the form.
func (o Options) signInForm(to http.ResponseWriter, from *http.Request) {
	from.Body = http.MaxBytesReader(to, from.Body, maxForm)
	v := view{Name: strings.TrimSpace(from.PostFormValue("name")), To: inside(from.PostFormValue("to")), Crawl: o.crawl()}
	password := from.PostFormValue("password")
	if password == "" || len(password) > maxPassword || len(v.Name) > maxName {
		v.Problem = "Write your name and your password, or a token as password and no name."
		show(to, http.StatusBadRequest, pageText, v)
		return
	}
	status, problem := o.attempt(to, from, v.Name, password)
	if status == http.StatusOK {
		http.Redirect(to, from, v.To, http.StatusSeeOther)
		return
	}
	v.Problem = problem
	show(to, status, pageText, v)
}

// attempt checks a name and a password. With the right ones it sets the cookies and returns 200.
func (o Options) attempt(to http.ResponseWriter, from *http.Request, name, password string) (int, string) {
	now, where := o.SignIns.now(), Place(o.Proxy.address(from))
	all := o.users()
	u, exists := User{Hash: noPassword}, false
	if at := userAt(all, name); at >= 0 {
		u, exists = all[at], true
	}
	bounds, gate := o.bounds(from, u, name, where)
	if wait := o.SignIns.attempts.begin(bounds, now); wait > 0 {
		return tooMany(to, wait)
	}
	done := SignIn{Time: now, What: ToSignIn, From: where, Way: BySession}
	if name == "" {
		return o.attemptToken(to, from, password, bounds, done)
	}
	leave, ok := gate.Enter(from.Context())
	if !ok {
		return o.busy(to, bounds)
	}
	ok = isPassword(u.Hash, password, o.SignIns.cost)
	leave()
	if exists {
		done.Name = u.Name
	}
	if ok {
		o.SignIns.attempts.succeed(bounds)
		o.begin(to, from, u, now)
		done.Done = true
	}
	return o.decided(done, "The name or the password is wrong.")
}

// tooMany returns the answer to an attempt after too many others.
func tooMany(to http.ResponseWriter, wait time.Duration) (int, string) {
	to.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	return http.StatusTooManyRequests,
		fmt.Sprintf("Too many attempts. Try again in %.0f minutes.", math.Ceil(wait.Minutes()))
}

// busy takes an attempt back whose password cannot be checked now, and returns its answer.
func (o Options) busy(to http.ResponseWriter, bounds []bound) (int, string) {
	o.SignIns.attempts.succeed(bounds)
	to.Header().Set("Retry-After", "5")
	return http.StatusServiceUnavailable, "Too many people sign in at this moment. Try again in some seconds."
}

// bounds returns the limits of an attempt, and the gate for its password.
func (o Options) bounds(r *http.Request, u User, name, where string) ([]bound, *Gate) {
	if device := o.device(r, u); device != "" {
		return []bound{{"device\n" + device, limitDevice}}, o.SignIns.known
	}
	all := []bound{{"from\n" + where, limitAddress}}
	if name != "" {
		all = append(all, bound{"pair\n" + where + "\n" + name, limitPair}, bound{"name\n" + name, limitUser})
	}
	return all, o.SignIns.others
}

// attemptToken checks a token, and sets its cookie.
func (o Options) attemptToken(
	to http.ResponseWriter, from *http.Request, secret string, bounds []bound, done SignIn,
) (int, string) {
	t, ok := find(o.Tokens(), secret)
	if ok {
		o.SignIns.attempts.succeed(bounds)
		o.setCookie(to, from, cookieName(from.Host), cookieValue(t), http.SameSiteLaxMode, 0)
	}
	done.Name, done.Way, done.Done = t.Name, ByToken, ok
	return o.decided(done, "The token is wrong; arcrawl user list shows the names of all tokens.")
}

// decided reports an attempt, and returns its answer.
func (o Options) decided(s SignIn, problem string) (int, string) {
	if o.Report != nil {
		o.Report(s)
	}
	if s.Done {
		return http.StatusOK, ""
	}
	return http.StatusUnauthorized, problem
}

// begin begins a session, and makes the browser a known one.
func (o Options) begin(to http.ResponseWriter, from *http.Request, u User, now time.Time) {
	o.setCookie(to, from, sessionName(from.Host), o.SignIns.sessions.begin(u, now), http.SameSiteLaxMode, 0)
	nonce := rand.Text()
	o.setCookie(to, from, deviceName(from.Host), nonce+"-"+deviceCode(u, nonce), http.SameSiteStrictMode, deviceAge)
}

// device returns the name of the browser, if the user has signed in with it before and has the same password since.
func (o Options) device(r *http.Request, u User) string {
	c, err := r.Cookie(deviceName(r.Host))
	if err != nil || !u.HasPassword() {
		return ""
	}
	nonce, code, _ := strings.Cut(c.Value, "-")
	if !hmac.Equal([]byte(code), []byte(deviceCode(u, nonce))) {
		return ""
	}
	return u.Name + "\n" + nonce
}

// deviceCode returns a code that only the daemon can make: the hash of the password is its key.
func deviceCode(u User, nonce string) string {
	sum := hmac.New(sha256.New, []byte(u.Hash))
	sum.Write([]byte("device\n" + u.Name + "\n" + nonce))
	return hex.EncodeToString(sum.Sum(nil))
}

// signOut ends the session and removes the cookies. The browser stays a known one.
func (o Options) signOut(to http.ResponseWriter, from *http.Request) {
	if c, err := from.Cookie(sessionName(from.Host)); err == nil {
		o.SignIns.sessions.end(c.Value)
	}
	for _, name := range []string{sessionName(from.Host), cookieName(from.Host)} {
		o.setCookie(to, from, name, "", http.SameSiteLaxMode, -time.Second)
	}
	http.Redirect(to, from, signInPath, http.StatusSeeOther)
}

// setCookie sets a cookie that scripts cannot read. With an age of 0 it ends with the browser, with a negative one at
// once.
func (o Options) setCookie(
	to http.ResponseWriter, from *http.Request, name, value string, site http.SameSite, age time.Duration,
) {
	http.SetCookie(to, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: int(age.Seconds()),
		HttpOnly: true, Secure: o.TLS || o.Proxy.encrypted(from), SameSite: site,
	})
}

// crawl returns the name of the crawl.
func (o Options) crawl() string {
	if o.Crawl == nil {
		return "this crawl"
	}
	return o.Crawl()
}

// users returns the users in force.
func (o Options) users() []User {
	if o.Users == nil {
		return nil
	}
	return o.Users()
}

// inside returns an address if it leads to a page of the dashboard, and the first page otherwise.
func inside(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" ||
		!strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\r\n\t") {
		return "/"
	}
	return to
}

// sessionName and deviceName return names that differ for each port, as cookieName does.
func sessionName(host string) string { return cookieName(host) + "-session" }

func deviceName(host string) string { return cookieName(host) + "-device" }

// passwordPath is the address of the page on which users change their own passwords.
const passwordPath = "/password"

//go:embed password.html
var passwordText string

// ownPassword serves the page for a password to a user with a session. Others are led to the page to sign in.
func (o Options) ownPassword(to http.ResponseWriter, from *http.Request) {
	u, ok := o.sessionOf(from)
	switch {
	case !ok || o.SetPassword == nil:
		http.Redirect(to, from, signInPath+"?to="+url.QueryEscape(passwordPath), http.StatusSeeOther)
	case from.Method == http.MethodPost:
		o.changePassword(to, from, u)
	default:
		v := view{Name: u.Name}
		if from.URL.Query().Has("changed") {
			v.Done = "The password was changed. Other browsers have to sign in again."
		}
		show(to, http.StatusOK, passwordText, v)
	}
}

// changePassword answers the form with a new password.
func (o Options) changePassword(to http.ResponseWriter, from *http.Request, u User) {
	from.Body = http.MaxBytesReader(to, from.Body, maxForm)
	now, wanted := from.PostFormValue("now"), from.PostFormValue("new")
	refuse := func(status int, why string) { show(to, status, passwordText, view{Name: u.Name, Problem: why}) }
	switch err := CheckPassword(wanted); {
	case now == "" || len(now) > maxPassword:
		refuse(http.StatusBadRequest, "Write your current password, and the new one twice.")
	case wanted != from.PostFormValue("again"):
		refuse(http.StatusBadRequest, "The two new passwords are not the same.")
	case err != nil:
		refuse(http.StatusBadRequest, "The new password cannot be used: "+err.Error()+".")
	case wanted == now:
		refuse(http.StatusBadRequest, "The new password is the current one.")
	default:
		if status, problem := o.tryPassword(to, from, u, now, wanted); problem != "" {
			refuse(status, problem)
			return
		}
		http.Redirect(to, from, passwordPath+"?changed=", http.StatusSeeOther)
	}
}

// tryPassword changes the password of a user, if the current one is right, and begins a new session: the other sessions
// of the user end. Attempts are limited like attempts to sign in, because somebody may have left a browser open.
func (o Options) tryPassword(
	to http.ResponseWriter, from *http.Request, u User, current, wanted string,
) (status int, problem string) {
	now, where := o.SignIns.now(), Place(o.Proxy.address(from))
	bounds, gate := o.bounds(from, u, u.Name, where)
	if wait := o.SignIns.attempts.begin(bounds, now); wait > 0 {
		return tooMany(to, wait)
	}
	leave, ok := gate.Enter(from.Context())
	if !ok {
		return o.busy(to, bounds)
	}
	done := SignIn{Time: now, What: ChangePassword, Name: u.Name, From: where, Way: BySession}
	var err error
	if done.Done = isPassword(u.Hash, current, o.SignIns.cost); done.Done {
		o.SignIns.attempts.succeed(bounds)
		err = o.SetPassword(u.Name, wanted)
	}
	leave()
	if err != nil {
		return http.StatusInternalServerError, "The password could not be written: " + err.Error() +
			". Ask your operator for: arcrawl user add --change --password " + u.Name
	}
	if status, problem = o.decided(done, "The current password is wrong."); problem != "" {
		return status, problem
	}
	if all := o.users(); userAt(all, u.Name) >= 0 {
		o.begin(to, from, all[userAt(all, u.Name)], now)
	}
	return http.StatusOK, ""
}
