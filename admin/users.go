package admin

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"net/http"
	"strings"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
)

// userRoutes returns the requests about users and tokens.
func userRoutes() []Route {
	return []Route{{
		Method: "GET", Path: api.Base + "/users", Needs: access.Operate, Answer: api.Users{},
		Doc: "Returns the names and roles of users and tokens, without their secrets.",
		Serve: func(w *Window, _ *http.Request) (any, error) {
			c := w.o.Config().Config.Admin
			return usersOf(c.UserFile, c.TokenFile)
		},
	}, {
		Method: "POST", Path: api.Base + "/users", Needs: access.Operate, Body: api.UserOrder{}, Answer: api.UserChanged{},
		Doc: "Adds, changes or removes a user or a token. The answer has the new password or token, which is stored nowhere else.",
		Serve: func(w *Window, r *http.Request) (any, error) {
			o, err := Read[api.UserOrder](r)
			if err != nil {
				return nil, err
			}
			return w.changeUser(o, access.CallerOf(r.Context()))
		},
	}}
}

// usersOf returns the users and tokens of two files, either of which may be missing.
func usersOf(userFile, tokenFile string) (api.Users, error) {
	out := api.Users{File: userFile, Users: []api.UserName{}, Tokens: []api.TokenName{}}
	users, err := access.Users(userFile)
	if err != nil {
		return out, err
	}
	for _, u := range users {
		out.Users = append(out.Users, api.UserName{Name: u.Name, Role: u.Role.String(), Password: u.HasPassword()})
	}
	tokens, err := access.List(tokenFile)
	for _, t := range tokens {
		out.Tokens = append(out.Tokens, api.TokenName{Name: t.Name, Role: t.Role.String()})
	}
	return out, err
}

// changeUser executes an order about a user or a token. Nobody takes away the own access: a crawl that nobody operates
// could only be helped on its machine.
func (w *Window) changeUser(o api.UserOrder, by access.Caller) (out api.UserChanged, err error) {
	own := o.Name == by.Name && (by.Way == access.ByToken) == o.Token && by.Way != access.Socket
	if own && (o.Verb == api.RemoveUser || o.Verb == api.SetRole) {
		return out, Fault("you cannot take away your own access; somebody else with the role operate can")
	}
	var role access.Role
	if o.Verb == api.AddUser || o.Verb == api.SetRole {
		if role, err = access.ParseRole(o.Role); err != nil {
			return out, BadRequest(err)
		}
	}
	c := w.o.Config().Config.Admin
	switch {
	case o.Verb == api.AddUser && o.Token:
		var t access.Token
		t, err = access.Add(c.TokenFile, o.Name, role)
		out.Secret = t.Secret
	case o.Verb == api.RemoveUser && o.Token:
		err = access.Remove(c.TokenFile, o.Name)
	case o.Token:
		return out, Fault("unknown verb %q for a token; valid verbs: %s, %s", o.Verb, api.AddUser, api.RemoveUser)
	case o.Verb == api.AddUser:
		if !o.NoPassword {
			out.Secret = newPassword()
		}
		err = access.AddUser(c.UserFile, o.Name, role, out.Secret)
	case o.Verb == api.SetRole:
		err = access.SetRole(c.UserFile, o.Name, role)
	case o.Verb == api.NewPassword:
		out.Secret = newPassword()
		err = access.SetPassword(c.UserFile, o.Name, out.Secret)
	case o.Verb == api.RemoveUser:
		err = access.RemoveUser(c.UserFile, o.Name)
	default:
		return out, Fault("unknown verb %q; valid verbs: %s, %s, %s, %s", o.Verb, api.AddUser, api.SetRole, api.NewPassword,
			api.RemoveUser)
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return api.UserChanged{}, Fault("%w; the daemon may not write the file: use arcrawl user on its machine", err)
	case err != nil:
		return api.UserChanged{}, BadRequest(err)
	}
	return out, nil
}

// newPassword returns a random password of 100 bits, which people can copy from a screen.
func newPassword() string {
	text := rand.Text()
	return strings.ToLower(text[:5] + "-" + text[5:10] + "-" + text[10:15] + "-" + text[15:20])
}
