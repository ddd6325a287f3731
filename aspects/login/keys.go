package login

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/uri"
)

// Keys returns the keys of the aspect.
func Keys(o *Options) schema.Owned {
	return schema.Owned{
		Tables: []schema.Table{
			{
				Name: "request", After: "fetch",
				Doc: "What is sent to a host besides what arcrawl always sends. Only the file of a host or domain may set it, because nothing of it may reach another host; see docs/curators.md.",
			},
			{
				Name: "login", After: "request",
				Doc: "How the crawler logs in to a site with a form; see docs/curators.md. Only the file of a host may set it. Cookies are then sent back as with `fetch.cookies = \"session\"`, over https only, and the archive has none of them in its request records. Nothing of the login itself is archived.",
			},
		},
		Vars:  slices.Concat(o.requestKeys(), o.loginKeys()),
		Check: o.check,
	}
}

// requestKeys are the keys of [request], and the keys of [fetch] about cookies.
func (o *Options) requestKeys() []schema.Var {
	return []schema.Var{
		schema.Rows("request.headers", schema.InHost, headerColumns("value"), &o.Headers, readOpenHeaders,
			"Header fields that everybody may know, sent with each request: `[{ name = \"Accept-Language\", value = \"da\" }]`. The archive has them in each request record."),
		schema.Rows("request.secret_headers", schema.InHost, headerColumns("secret"), &o.SecretHeaders, readSecretHeaders,
			"Secret header fields, such as a Cookie or a key: `[{ name = \"X-Api-Key\", secret = \"file:news-key\" }]`. "+schema.SecretPlaces),
		schema.Place("request.basic", schema.InHost, schema.ReadCredentials, &o.Basic,
			"User name and password of the site, as `USER:PASSWORD`, sent as `Authorization: Basic`."),
		schema.Place("request.bearer", schema.InHost, readBearer, &o.Bearer,
			"Token of the site, sent as `Authorization: Bearer`."),
		schema.Bool("request.secrets_over_http", schema.InHost, &o.OverHTTP,
			"Send secrets also over http, where everybody on the way can read them. Without it they are sent over https only."),
		schema.Bool("request.archive_secrets", schema.InHost, &o.ArchiveSecrets,
			"Write secrets into the request records as they were sent. Without it each is replaced by `[redacted]`, and the metadata record says which (`requestRedacted`)."),
		schema.Secretly(schema.Optional("fetch.cookie", schema.InHost, checkCookie, &o.Cookie,
			"Sent as Cookie with each request. Only the file of a host may set it: to what a browser sends there after consent, as `consent=yes; age=18`. The archive has it; a cookie that nobody may know belongs into `request.secret_headers`. Empty: none.")),
		schema.Choice("fetch.cookies", schema.InHost, &o.Cookies,
			"Whether cookies of the host are sent back: `off` never, `session` until the daemon is stopped, `keep` also after that. They go to the host that set them and to no other. Where the site sets other values at each visit, no visit can be conditional.",
			CookiesOff, CookiesSession, CookiesKeep),
	}
}

// checkCookie accepts the value of the header field Cookie, without the name of the field.
func checkCookie(s string) (problem, remedy string) {
	name, _, ok := strings.Cut(s, ":")
	if name = strings.ToLower(strings.TrimSpace(name)); ok && (name == "cookie" || name == "set-cookie") {
		return "begins with the name of the header field", "write only what follows the colon, for example consent=yes"
	}
	return schema.CheckHeader(s)
}

// loginKeys are the keys of [login].
func (o *Options) loginKeys() []schema.Var {
	return []schema.Var{
		schema.Optional("login.uri", schema.InHost, checkLoginURI, &o.Login.URI,
			"Address that receives the form by POST, as `https://www.news.example/session`. Only the host of this address is logged in to. Empty: no login."),
		schema.Optional("login.page", schema.InHost, checkLoginURI, &o.Login.Page,
			"Page with the form, on the same host. It is fetched first, and the hidden fields of its form are sent too. Empty: none."),
		schema.Rows("login.fields", schema.InHost, headerColumns("value"), &o.Login.Fields, readFields,
			"Fields of the form that everybody may know: `[{ name = \"remember\", value = \"1\" }]`."),
		schema.Rows("login.secret_fields", schema.InHost, headerColumns("secret"), &o.Login.SecretFields, readSecretFields,
			"Secret fields of the form: `[{ name = \"password\", secret = \"file:news-password\" }]`. "+schema.SecretPlaces),
		expression("login.success", &o.Login.Success,
			"Matches in the head or the content of the answer to the form if the login succeeded, and only then, as `'(?m)^Set-Cookie: session='` or `'(?m)^Location: /account'`."),
		expression("login.logged_out", &o.Login.LoggedOut,
			"Matches in the head or the first 64 KiB of answers for strangers. The crawler then logs in again instead of archiving them. A status 401 and a redirect to login.uri or login.page count always. Empty: nothing else."),
		schema.Interval("login.renew", schema.InHost, 0, schema.Longest, &o.Login.Renew,
			"How long a login is used before the next one. `0s`: until the site ends it."),
	}
}

// headerColumns returns the columns of a list of header fields.
func headerColumns(content string) []schema.Column {
	return []schema.Column{
		{Name: "name", Type: schema.Type{Kind: schema.Text}}, {Name: content, Type: schema.Type{Kind: schema.Text}},
	}
}

// check reports two credentials that a file, or the refinement at path, sets for one host, and a login that cannot
// work.
func (o *Options) check(doc *schema.Document, path schema.Path) {
	o.Login.checkLogin(doc, path, o.OverHTTP)
	named := slices.ContainsFunc(o.SecretHeaders, func(h Header) bool {
		return strings.EqualFold(h.Name, "Authorization")
	})
	two := o.Basic.IsSet() && o.Bearer.IsSet() || named && (o.Basic.IsSet() || o.Bearer.IsSet())
	for _, name := range []string{"request.basic", "request.bearer"} {
		if f, set := doc.Setting(path, name); set && two {
			f.HiddenFault("is the second value of the header field Authorization", `keep one of them, and set the other to ""`)
			return
		}
	}
}

// checkLogin reports a login that cannot work, if a file, or the refinement at path, sets it.
func (l *Form) checkLogin(doc *schema.Document, path schema.Path, overHTTP bool) {
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
func (l *Form) checkPage(doc *schema.Document, path schema.Path, overHTTP bool) {
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

// maxHeaders and maxValue bound the header fields of one host.
const (
	maxHeaders = 50
	maxValue   = 4 << 10
)

// readOpenHeaders reads a list of header fields that everybody may know.
func readOpenHeaders(f schema.Field) []Header {
	const example = `write for example [{ name = "Accept-Language", value = "da, en;q=0.5" }]`
	return readNamed(f, "value", example, fetch.CheckHeaderName, func(h *Header, v schema.Field) bool {
		if remedy := secretName(h.Name); remedy != "" {
			v.HiddenFault("is in the header field "+h.Name+", which holds a secret", remedy)
			return false
		}
		text, ok := v.Text("a text in quotes")
		if ok && (!validValue(text) || len(text) > maxValue) {
			v.Fault("is not the value of a header field", fmt.Sprintf("write up to %d characters on one line", maxValue))
			return false
		}
		h.Value = text
		return ok
	})
}

// readSecretHeaders reads a list of header fields that nobody may know.
func readSecretHeaders(f schema.Field) []Header {
	const example = `write for example [{ name = "X-Api-Key", secret = "file:news-key" }]`
	return readNamed(f, "secret", example, fetch.CheckHeaderName, func(h *Header, v schema.Field) (ok bool) {
		h.Secret, ok = schema.ReadSecret(v, checkValue)
		return ok
	})
}

// readBearer reads the place of a token.
func readBearer(f schema.Field) (schema.Secret, bool) { return schema.ReadSecret(f, checkValue) }

// checkValue accepts a secret that is the value of a header field.
func checkValue(s string) (problem, remedy string) {
	switch {
	case s == "":
		return "holds nothing", "write the secret into it, on one line"
	case len(s) > schema.MaxSecret:
		return fmt.Sprintf("holds more than %d bytes", schema.MaxSecret), "check the place"
	case !validValue(s):
		return "holds a line end, a control character, or white space around the secret", "write the secret alone, on one line"
	}
	return "", ""
}

// validValue reports whether a text can be the value of a header field.
func validValue(s string) bool {
	return httpguts.ValidHeaderFieldValue(s) && strings.TrimSpace(s) == s
}

// readNamed reads a list of tables with a name that check accepts and one more column.
func readNamed(
	f schema.Field, column, example string, check schema.Check, read func(*Header, schema.Field) bool,
) (all []Header) {
	tables, ok := f.Tables(example)
	if !ok {
		return nil
	}
	seen := map[string]bool{}
	for _, table := range tables {
		m, _ := table.Value.(map[string]any)
		if keys := slices.Sorted(maps.Keys(m)); !slices.Equal(keys, []string{"name", column}) {
			table.HiddenFault("does not have exactly the keys name and "+column, example)
			continue
		}
		name := table.Child("name", m["name"])
		text, ok := name.Text(`for example "Accept-Language"`)
		if !ok {
			continue
		}
		if problem, remedy := check(text); problem != "" {
			name.Fault(problem, remedy)
			continue
		}
		if seen[strings.ToLower(text)] {
			name.Fault("is named twice", "write one entry for each header field")
			continue
		}
		seen[strings.ToLower(text)] = true
		h := Header{Name: text}
		if read(&h, table.Child(column, m[column])) {
			all = append(all, h)
		}
	}
	if len(all) > maxHeaders {
		f.Fault("has too many header fields", fmt.Sprintf("maximum: %d", maxHeaders))
		return nil
	}
	return all
}

// secretName returns the remedy for a header field whose value is always a secret, or that has a key of its own.
func secretName(name string) string {
	switch strings.ToLower(name) {
	case "authorization":
		return "use request.basic, request.bearer or request.secret_headers, which name the place of the secret"
	case "cookie":
		return "use fetch.cookie for a cookie of consent, which everybody may know, or request.secret_headers"
	}
	return ""
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
	fits := schema.Accept(func(s string) bool { return s != "" && len(s) <= schema.MaxSecret },
		"holds nothing, or is too long", "write the secret into it, on one line")
	return readNamed(f, "secret", example, checkFieldName, func(h *Header, v schema.Field) (ok bool) {
		h.Secret, ok = schema.ReadSecret(v, fits)
		return ok
	})
}

// checkFieldName accepts the name of a field of a form.
var checkFieldName = schema.Accept(func(name string) bool {
	return name != "" && len(name) <= 200 && !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' })
}, "is not the name of a field of a form", `write the name that the field has in the form, for example "password"`)

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
	return schema.Value(name, schema.InHost, schema.Type{Kind: schema.Regex, Optional: true}, v, read, show, doc)
}
