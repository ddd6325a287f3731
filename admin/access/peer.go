package access

import (
	"os/user"
	"strconv"
)

// CurrentUser returns the name of the user of this process.
func CurrentUser() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}

// UserName returns the name of a user, or "uid N" if the machine knows none.
func UserName(uid uint32) string {
	id := strconv.FormatUint(uint64(uid), 10)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return "uid " + id
}
