package admin

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
)

// TestOperatorsChangeUsersAndTokens adds, changes and removes a user and a token with the API. The audit log has each
// order, and no secret.
func TestOperatorsChangeUsersAndTokens(t *testing.T) {
	inWorld(t, everyHour, func(w *world) {
		change := func(o api.UserOrder) string { w.Helper(); return post[api.UserChanged](w, "/api/v1/users", o).Secret }
		password := change(api.UserOrder{Verb: api.AddUser, Name: "maria", Role: "read"})
		change(api.UserOrder{Verb: api.AddUser, Name: "proxied", Role: "curate", NoPassword: true})
		change(api.UserOrder{Verb: api.SetRole, Name: "maria", Role: "curate"})
		again := change(api.UserOrder{Verb: api.NewPassword, Name: "maria"})
		token := change(api.UserOrder{Verb: api.AddUser, Name: "grafana", Role: "read", Token: true})
		change(api.UserOrder{Verb: api.AddUser, Name: "backup", Role: "read", Token: true})
		if access.CheckPassword(password) != nil || access.CheckPassword(again) != nil || password == again ||
			len(token) < 16 {
			w.Errorf("the passwords are %q and %q, the token is %q", password, again, token)
		}
		all := get[api.Users](w, "/api/v1/users")
		maria := api.UserName{Name: "maria", Role: "curate", Password: true}
		if len(all.Users) != 2 || all.Users[0] != maria || all.Users[1].Password || len(all.Tokens) != 2 {
			w.Errorf("users and tokens are %+v", all)
		}
		change(api.UserOrder{Verb: api.RemoveUser, Name: "proxied"})
		change(api.UserOrder{Verb: api.RemoveUser, Name: "backup", Token: true})
		for name, o := range map[string]api.UserOrder{
			"a name twice": {Verb: api.AddUser, Name: "maria", Role: "read"}, "no role": {Verb: api.AddUser, Name: "jan"},
			"a name with a blank": {Verb: api.AddUser, Name: "two words", Role: "read"}, "nobody": {Verb: api.RemoveUser, Name: "nobody"},
			"an unknown verb": {Verb: "promote", Name: "maria"}, "the last token": {Verb: api.RemoveUser, Name: "grafana", Token: true},
			"the role of a token": {Verb: api.SetRole, Name: "grafana", Role: "read", Token: true},
		} {
			if status := w.Ask("POST", "/api/v1/users", o, nil); status != http.StatusBadRequest {
				w.Errorf("%s: status %d", name, status)
			}
		}
		log, err := os.ReadFile(filepath.Join(w.Dir, "audit.jsonl"))
		if err != nil || strings.Count(string(log), `"what":"users"`) != 15 || !strings.Contains(string(log), `"name":"maria"`) {
			w.Errorf("the audit log is %s, %v", log, err)
		}
		for _, secret := range []string{password, again, token} {
			if strings.Contains(string(log), secret) {
				w.Errorf("the audit log has a secret: %s", log)
			}
		}
	})
}

// TestNobodyTakesAwayTheOwnAccess lets callers remove themselves, and others with the same name.
func TestNobodyTakesAwayTheOwnAccess(t *testing.T) {
	inWorld(t, everyHour, func(w *world) {
		jan, token := access.Caller{Name: "jan", Way: access.BySession}, access.Caller{Name: "jan", Way: access.ByToken}
		for _, o := range []api.UserOrder{
			{Verb: api.AddUser, Name: "jan", Role: "operate"},
			{Verb: api.AddUser, Name: "jan", Role: "operate", Token: true},
			{Verb: api.AddUser, Name: "other", Role: "operate", Token: true},
		} {
			post[api.UserChanged](w, "/api/v1/users", o)
		}
		for _, c := range []struct {
			by   access.Caller
			o    api.UserOrder
			fine bool
		}{
			{jan, api.UserOrder{Verb: api.RemoveUser, Name: "jan"}, false},
			{jan, api.UserOrder{Verb: api.SetRole, Name: "jan", Role: "read"}, false},
			{token, api.UserOrder{Verb: api.RemoveUser, Name: "jan", Token: true}, false},
			{jan, api.UserOrder{Verb: api.RemoveUser, Name: "jan", Token: true}, true},
			{token, api.UserOrder{Verb: api.RemoveUser, Name: "jan"}, true},
		} {
			if _, err := w.window.changeUser(c.o, c.by); (err == nil) != c.fine {
				w.Errorf("%+v by %+v: %v", c.o, c.by, err)
			}
		}
	})
}
