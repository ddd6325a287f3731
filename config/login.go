package config

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/uri"
)

// Login says how the crawler logs in to a site with a form.
type Login struct {
	URI          string         // receives the form; "" = there is no login
	Page         string         // has the form, whose hidden fields are sent too; "" = none
	Fields       []Header       // of the form, that everybody may know
	SecretFields []Header       // of the form, that nobody may know
	Success      *regexp.Regexp // matches the answer to the form if the login succeeded
	LoggedOut    *regexp.Regexp // matches answers for strangers; nil = none
	Renew        time.Duration  // how long a login is used; 0 = until the site ends it
}

// On reports whether there is a login.
func (l *Login) On() bool { return l.URI != "" }

// Mark returns a number that stands for the settings of the login: another number means that it is another login.
func (l *Login) Mark() uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%q %q %v %v", l.URI, l.Page, l.Success, l.LoggedOut)
	for _, f := range l.Fields {
		fmt.Fprintf(h, " %q=%q", f.Name, f.Value)
	}
	for _, f := range l.SecretFields {
		fmt.Fprintf(h, " %q=%q %x", f.Name, f.Secret, f.Secret.mark())
	}
	return h.Sum64()
}

// readFields reads a list of fields of a form that everybody may know.
func readFields(f schema.Field) []Header {
	const example = `write for example [{ name = "remember", value = "1" }]`
	return readNamed(f, "value", example, checkFieldName, func(h *Header, v schema.Field) (ok bool) {
		if h.Value, ok = v.Text("a text in quotes"); ok && len(h.Value) > maxValue {
			v.Fault("is too long", fmt.Sprintf("write up to %d characters", maxValue))
			return false
		}
		return ok
	})
}

// readSecretFields reads a list of fields of a form that nobody may know.
func readSecretFields(f schema.Field) []Header {
	const example = `write for example [{ name = "password", secret = "file:news-password" }]`
	fits := schema.Accept(func(s string) bool { return s != "" && len(s) <= maxSecret },
		"holds nothing, or is too long", "write the secret into it, on one line")
	return readNamed(f, "secret", example, checkFieldName, func(h *Header, v schema.Field) (ok bool) {
		h.Secret, ok = readSecret(v, fits)
		return ok
	})
}

// checkFieldName accepts the name of a field of a form.
var checkFieldName = schema.Accept(func(name string) bool {
	return name != "" && len(name) <= 200 && !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' })
}, "is not the name of a field of a form", `write the name that the field has in the form, for example "password"`)

// checkLogin reports a login that cannot work, if a file, or the refinement at path, sets it.
func (l *Login) checkLogin(doc *schema.Document, path schema.Path, overHTTP bool) {
	l.checkPage(doc, path, overHTTP)
	f, set := doc.Setting(path, "login.uri")
	switch {
	case !set || !l.On():
	case l.Success == nil:
		f.Fault("has no login.success", "set it to an expression that only the answer to a successful login has, as '(?m)^Set-Cookie: session='")
	case len(l.Fields)+len(l.SecretFields) == 0:
		f.Fault("has no fields", "set login.fields and login.secret_fields to what the form sends")
	case !overHTTP && len(l.SecretFields) > 0 && !isEncrypted(l.URI):
		f.Fault("would get secrets without encryption", "write https, or set request.secrets_over_http = true")
	}
}

// checkPage reports a page with the form that is on another host, or that others could change on its way.
func (l *Login) checkPage(doc *schema.Document, path schema.Path, overHTTP bool) {
	const name = "login.page"
	page, err := uri.Parse(l.Page)
	to, errTo := uri.Parse(l.URI)
	if l.Page == "" || err != nil || errTo != nil {
		return // none, or a fault that was reported before
	}
	at := path.Key(name)
	if !doc.Has(at) {
		if at = path.Key("login.uri"); !doc.Has(at) {
			return
		}
	}
	f := schema.Field{Doc: doc, Name: name, Path: at, Value: l.Page}
	switch {
	case page.Host() != to.Host():
		f.Fault("is on another host than login.uri", "write the page with the form that login.uri receives")
	case !overHTTP && len(l.SecretFields) > 0 && !isEncrypted(l.Page):
		f.Fault("would be fetched without encryption, so that others could change its fields and cookies",
			"write https, or set request.secrets_over_http = true")
	}
}

// isEncrypted reports whether an address is one of https.
func isEncrypted(address string) bool {
	u, err := uri.Parse(address)
	return err == nil && u.Scheme() == "https"
}

// HiddenCookies returns s with cookies that nobody may know.
func (s RequestSettings) HiddenCookies(cookies string) RequestSettings {
	hidden := Header{Name: "Cookie", Secret: Secret{place: "cookies of the login", value: &cookies}}
	s.SecretHeaders = append(append([]Header{}, s.SecretHeaders...), hidden)
	return s
}

// loginKeys are the keys of [login].
func (d *draft) loginKeys() []schema.Var {
	s := d.settings
	return []schema.Var{
		schema.Optional("login.uri", InHost, checkLoginURI, &s.Request.Login.URI,
			"Address that receives the form by POST, as `https://www.news.example/session`. Only the host of this address is logged in to. Empty: no login."),
		schema.Optional("login.page", InHost, checkLoginURI, &s.Request.Login.Page,
			"Page with the form, on the same host. It is fetched first, and the hidden fields of its form are sent too. Empty: none."),
		schema.Rows("login.fields", InHost, headerColumns("value"), &s.Request.Login.Fields, readFields,
			"Fields of the form that everybody may know: `[{ name = \"remember\", value = \"1\" }]`."),
		schema.Rows("login.secret_fields", InHost, headerColumns("secret"), &s.Request.Login.SecretFields, readSecretFields,
			"Fields of the form that nobody may know: `[{ name = \"password\", secret = \"file:news-password\" }]`. "+SecretPlaces),
		expression("login.success", &s.Request.Login.Success,
			"Regular expression that matches in the head or the content of the answer to the form if the login succeeded, and only then, as `'(?m)^Set-Cookie: session='` or `'(?m)^Location: /account'`."),
		expression("login.logged_out", &s.Request.Login.LoggedOut,
			"Regular expression that matches in the head or the first 64 KiB of answers for strangers. The crawler then logs in again instead of archiving them. A status 401 and a redirect to login.uri or login.page count always. Empty: nothing else."),
		schema.Interval("login.renew", InHost, 0, schema.Longest, &s.Request.Login.Renew,
			"How long a login is used before the next one. `0s`: until the site ends it."),
	}
}

// checkLoginURI accepts a web address.
var checkLoginURI = schema.Accept(func(s string) bool {
	u, err := uri.Parse(s)
	return err == nil && u.Hostname() != ""
}, "is not a web address", `write for example "https://www.news.example/login"`)

// expression makes a key of a host file that is empty or a regular expression.
func expression(name string, v **regexp.Regexp, doc string) schema.Var {
	read := func(f schema.Field) (*regexp.Regexp, bool) {
		s, ok := f.Text("a regular expression in quotes")
		if !ok || s == "" {
			return nil, ok
		}
		return schema.ReadRegex(f, s, `write for example '(?m)^Set-Cookie: session='`)
	}
	show := func(re *regexp.Regexp) string {
		if re == nil {
			return `""`
		}
		return strconv.Quote(re.String())
	}
	return schema.Value(name, InHost, schema.Type{Kind: schema.Regex, Optional: true}, v, read, show, doc)
}
