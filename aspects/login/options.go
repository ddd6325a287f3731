package login

import (
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/fetch"
)

// Options say what is sent to a host besides what arcrawl always sends.
type Options struct {
	Headers        []Header      // header fields that everybody may know
	SecretHeaders  []Header      // header fields that nobody may know
	Basic          schema.Secret // "user:password"
	Bearer         schema.Secret
	ArchiveSecrets bool   // write them into the archive as they were sent
	OverHTTP       bool   // send them without encryption too
	Cookie         string // sent with each request; "" = none
	Cookies        Cookies
	Login          Form
}

// DefaultOptions returns the options that apply where no file sets anything.
func DefaultOptions() Options { return Options{Cookies: CookiesOff} }

// Header is a header field of a request, or a field of a form. Exactly one of Value and Secret is set.
type Header struct {
	Name   string
	Value  string
	Secret schema.Secret
}

// Cookies says whether cookies that a host sets are sent back to it.
type Cookies string

// The values of Cookies.
const (
	CookiesOff     Cookies = "off"     // they are never sent back
	CookiesSession Cookies = "session" // they are sent back until the daemon is stopped
	CookiesKeep    Cookies = "keep"    // they are stored
)

// Form says how the crawler logs in to a site with a form.
type Form struct {
	URI          string         // receives the form; "" = there is no login
	Page         string         // has the form, whose hidden fields are sent too; "" = none
	Fields       []Header       // of the form, that everybody may know
	SecretFields []Header       // of the form, that nobody may know
	Success      *regexp.Regexp // matches the answer to the form if the login succeeded
	LoggedOut    *regexp.Regexp // matches answers for strangers; nil = none
	Renew        time.Duration  // how long a login is used; 0 = until the site ends it
}

// On reports whether there is a login.
func (l *Form) On() bool { return l.URI != "" }

// mark returns a number that stands for the settings of the login: another number means that it is another login.
func (l *Form) mark() uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%q %q %v %v", l.URI, l.Page, l.Success, l.LoggedOut)
	for _, f := range l.Fields {
		fmt.Fprintf(h, " %q=%q", f.Name, f.Value)
	}
	for _, f := range l.SecretFields {
		fmt.Fprintf(h, " %q=%q %x", f.Name, f.Secret, f.Secret.Mark())
	}
	return h.Sum64()
}

// Unread returns the place of a secret that could not be read here; "" if all could.
func (o *Options) Unread() string {
	all := []schema.Secret{o.Basic, o.Bearer}
	for _, h := range slices.Concat(o.SecretHeaders, o.Login.SecretFields) {
		all = append(all, h.Secret)
	}
	for _, secret := range all {
		if secret.IsSet() && !secret.Known() {
			return secret.String()
		}
	}
	return ""
}

// HasSecret reports whether anything is sent that nobody may know.
func (o *Options) HasSecret() bool {
	return len(o.SecretHeaders) > 0 || o.Basic.IsSet() || o.Bearer.IsSet() || o.Login.On()
}

// Mark returns a number that stands for what is sent: another number means that a server may answer otherwise. It is
// zero if nothing is sent that arcrawl does not always send.
func (o *Options) Mark() int {
	own := len(o.Headers)+len(o.SecretHeaders) > 0 || o.Basic.IsSet() || o.Bearer.IsSet()
	if !own && o.Cookie == "" {
		return 0
	}
	h := fnv.New32a()
	fmt.Fprintf(h, "%q %v", o.Cookie, o.OverHTTP)
	for _, x := range slices.Concat(o.Headers, o.SecretHeaders) {
		fmt.Fprintf(h, "\n%q %q %q %x", strings.ToLower(x.Name), x.Value, x.Secret, x.Secret.Mark())
	}
	fmt.Fprintf(h, "\n%q %x %q %x", o.Basic, o.Basic.Mark(), o.Bearer, o.Bearer.Mark())
	return int(h.Sum32()>>1) | 1
}

// AddTo adds the header fields to a request.
func (o *Options) AddTo(x *fetch.Request) {
	for _, h := range o.Headers {
		add(x, h.Name, h.Value, false)
	}
	cookie, hidden := o.Cookie, false
	if o.OverHTTP || x.URI.Scheme() == "https" {
		for _, h := range o.SecretHeaders {
			if !strings.EqualFold(h.Name, "Cookie") {
				add(x, h.Name, h.Secret.Reveal(), !o.ArchiveSecrets)
				continue
			}
			if cookie != "" {
				cookie += "; "
			}
			cookie, hidden = cookie+h.Secret.Reveal(), !o.ArchiveSecrets
		}
		switch {
		case o.Basic.IsSet():
			encoded := base64.StdEncoding.EncodeToString([]byte(o.Basic.Reveal()))
			add(x, "Authorization", "Basic "+encoded, !o.ArchiveSecrets)
		case o.Bearer.IsSet():
			add(x, "Authorization", "Bearer "+o.Bearer.Reveal(), !o.ArchiveSecrets)
		}
	}
	if cookie != "" {
		add(x, "Cookie", cookie, hidden)
	}
}

// add adds a header field to a request. A field that is always sent is replaced.
func add(x *fetch.Request, name, value string, secret bool) {
	f := fetch.Field{Name: name, Value: value}
	same := func(other fetch.Field) bool { return strings.EqualFold(other.Name, name) }
	i := slices.IndexFunc(x.Header, same)
	switch {
	case secret:
		x.Header, x.Secrets = slices.DeleteFunc(x.Header, same), append(x.Secrets, f)
	case i >= 0:
		x.Header[i] = f
	default:
		x.Header = append(x.Header, f)
	}
}
