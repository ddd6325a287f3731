package access

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// TestASessionSurvivesARestart signs two users in, and starts the daemon several times: after one has signed out, with
// another password, after a time without a request, with a clock that was set back, and with a damaged file.
func TestASessionSurvivesARestart(t *testing.T) {
	t.Parallel()
	d := newGuarded(t)
	file := filepath.Join(t.TempDir(), "sessions.json")
	restart := func() {
		d.o.SignIns = NewSignIns(func() time.Time { return d.now })
		d.o.SignIns.cost = cheap
		d.o.SignIns.Keep(file, zerolog.Nop())
	}
	restart()
	maria := with(d.send("POST", "/login", form("maria", "correct horse battery"), nil).Cookies())
	answer := d.send("POST", "/login", form("jan", "staple of the library"), nil)
	jan := with(answer.Cookies())
	check := func(when, ofMaria, ofJan string) {
		t.Helper()
		d.send("GET", "/", nil, maria)
		got := []string{d.caller.Name}
		d.send("GET", "/", nil, jan)
		if got = append(got, d.caller.Name); got[0] != ofMaria || got[1] != ofJan {
			t.Errorf("%s the callers are %q, want %q and %q", when, got, ofMaria, ofJan)
		}
	}
	const nobody = "nobody was served"
	text, err := os.ReadFile(file)
	info, _ := os.Stat(file)
	for _, c := range answer.Cookies() {
		if err != nil || strings.Contains(string(text), c.Value) || strings.Contains(string(text), "argon2") || info.Mode().Perm() != 0o600 {
			t.Errorf("the file has %s, with the mode %s; %v", text, info.Mode(), err)
		}
	}
	d.now = d.now.Add(6 * time.Hour)
	restart()
	check("after a restart", "maria", "jan")
	d.now = d.now.Add(11 * time.Hour)
	restart()
	check("11 hours after the last request", "maria", "jan")
	d.send("POST", "/logout", nil, maria)
	restart()
	check("after maria has signed out", nobody, "jan")
	d.users[1].Hash = hashPassword("another password of jan", cheap)
	restart()
	check("with another password of jan", nobody, nobody)

	d.users[1].Hash = hashPassword("staple of the library", cheap)
	jan = with(d.send("POST", "/login", form("jan", "staple of the library"), nil).Cookies())
	d.now = d.now.Add(-time.Hour)
	restart()
	check("with a clock that was set back", nobody, nobody)
	d.now = d.now.Add(14 * time.Hour)
	restart()
	check("after 13 hours", nobody, nobody)
	if err := os.WriteFile(file, []byte("[{"), 0o600); err != nil {
		t.Fatal(err)
	}
	restart()
	check("with a damaged file", nobody, nobody)
}
