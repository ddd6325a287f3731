package access

import (
	_ "embed"
	"net/http"
	"net/url"
)

// passwordPath is the address of the page on which users change their own passwords.
const passwordPath = "/password"

//go:embed password.html
var passwordText string

// passwordView holds the texts of the page for a password.
type passwordView struct {
	Name, Problem string
	Changed       bool
}

// ownPassword serves the page for a password to a user with a session. Others are led to the page to sign in.
func (o Options) ownPassword(to http.ResponseWriter, from *http.Request) {
	u, ok := o.sessionOf(from)
	switch {
	case !ok || o.SetPassword == nil:
		http.Redirect(to, from, signInPath+"?to="+url.QueryEscape(passwordPath), http.StatusSeeOther)
	case from.Method == http.MethodPost:
		o.changePassword(to, from, u)
	default:
		show(to, http.StatusOK, passwordText, passwordView{Name: u.Name, Changed: from.URL.Query().Has("changed")})
	}
}

// changePassword answers the form with a new password.
func (o Options) changePassword(to http.ResponseWriter, from *http.Request, u User) {
	from.Body = http.MaxBytesReader(to, from.Body, maxForm)
	now, wanted := from.PostFormValue("now"), from.PostFormValue("new")
	refuse := func(status int, why string) { show(to, status, passwordText, passwordView{Name: u.Name, Problem: why}) }
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
	now, where := o.SignIns.now(), place(o.Proxy.address(from))
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
