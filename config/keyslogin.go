package config

import (
	"regexp"
	"strconv"
	"time"

	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/uri"
)

// loginKeys are the keys of [login].
var loginKeys = []key{
	schema.Optional("login.uri", InHost, checkLoginURI, func(d *draft) *string { return &d.settings.Request.Login.URI },
		"Address that receives the form by POST, as `https://www.news.example/session`. Only the host of this address is logged in to. Empty: no login."),
	schema.Optional("login.page", InHost, checkLoginURI, func(d *draft) *string { return &d.settings.Request.Login.Page },
		"Page with the form, on the same host. It is fetched first, and the hidden fields of its form are sent too. Empty: none."),
	schema.Rows("login.fields", InHost, headerColumns("value"),
		func(f schema.Field, d *draft) { d.settings.Request.Login.Fields = readFields(f) },
		"Fields of the form that everybody may know: `[{ name = \"remember\", value = \"1\" }]`."),
	schema.Rows("login.secret_fields", InHost, headerColumns("secret"),
		func(f schema.Field, d *draft) { d.settings.Request.Login.SecretFields = readSecretFields(f) },
		"Fields of the form that nobody may know: `[{ name = \"password\", secret = \"file:news-password\" }]`. "+SecretPlaces),
	expression("login.success", func(d *draft) **regexp.Regexp { return &d.settings.Request.Login.Success },
		"Regular expression that matches in the head or the content of the answer to the form if the login succeeded, and only then, as `'(?m)^Set-Cookie: session='` or `'(?m)^Location: /account'`."),
	expression("login.logged_out", func(d *draft) **regexp.Regexp { return &d.settings.Request.Login.LoggedOut },
		"Regular expression that matches in the head or the first 64 KiB of answers for strangers. The crawler then logs in again instead of archiving them. A status 401 and a redirect to login.uri or login.page count always. Empty: nothing else."),
	schema.Interval("login.renew", InHost, 0, schema.Longest,
		func(d *draft) *time.Duration { return &d.settings.Request.Login.Renew },
		"How long a login is used before the next one. `0s`: until the site ends it."),
}

// checkLoginURI accepts a web address.
func checkLoginURI(s string) (problem, remedy string) {
	if u, err := uri.Parse(s); err != nil || u.Hostname() == "" {
		return "is not a web address", `write for example "https://www.news.example/login"`
	}
	return "", ""
}

// expression makes a key of a host file that is empty or a regular expression.
func expression(name string, field func(*draft) **regexp.Regexp, doc string) key {
	return key{
		Key: Key{Name: name, Type: schema.Type{Kind: schema.Regex, Optional: true}, Scope: InHost, Doc: doc},
		Read: func(f schema.Field, d *draft) {
			const example = `write for example '(?m)^Set-Cookie: session='`
			s, ok := f.Text("a regular expression in quotes")
			if !ok {
				return
			}
			if *field(d) = nil; s == "" {
				return
			}
			if re, ok := schema.ReadRegex(f, s, example); ok {
				*field(d) = re
			}
		},
		Show: func(d *draft) string {
			if re := *field(d); re != nil {
				return strconv.Quote(re.String())
			}
			return strconv.Quote("")
		},
	}
}
