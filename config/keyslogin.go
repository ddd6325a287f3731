package config

import (
	"regexp"
	"strconv"

	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/uri"
)

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
