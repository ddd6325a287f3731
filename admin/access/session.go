package access

import (
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"
)

// The bounds of sessions.
const (
	maxIdle        = 12 * time.Hour     // without a request
	maxAge         = 7 * 24 * time.Hour // since the password was given
	maxSessions    = 2000
	maxUserSession = 20 // of one user; a further one ends the oldest
)

// sessions are the browsers in which users have signed in. A file keeps them when the process ends; see
// [SignIns.Keep]. It is safe for concurrent use.
type sessions struct {
	mu    sync.Mutex // guards the fields below
	all   map[[sha256.Size]byte]*session
	keeps *sessionFile // nil = they end with the process
}

// session is one browser. The secret in its cookie is not stored.
type session struct {
	user        string
	password    string // digest of its hash at the beginning; another password ends the session
	began, used time.Time
	kept        time.Time // used, as the file has it
}

func (s *session) ended(now time.Time) bool {
	return now.Sub(s.used) >= maxIdle || now.Sub(s.began) >= maxAge
}

// begin returns the secret of a new session.
func (s *sessions) begin(u User, now time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, open := range s.all {
		if open.ended(now) {
			delete(s.all, key)
		}
	}
	s.makeRoom(maxUserSession, func(open *session) bool { return open.user == u.Name })
	s.makeRoom(maxSessions, func(*session) bool { return true })
	secret := rand.Text()
	s.all[sha256.Sum256([]byte(secret))] = &session{user: u.Name, password: markOf(u), began: now, used: now}
	s.keep()
	return secret
}

// makeRoom ends the session that was not used for the longest time, if there are too many. The caller holds mu.
func (s *sessions) makeRoom(most int, of func(*session) bool) {
	n, at := 0, [sha256.Size]byte{}
	for key, open := range s.all {
		if !of(open) {
			continue
		}
		if n++; n == 1 || open.used.Before(s.all[at].used) {
			at = key
		}
	}
	if n >= most {
		delete(s.all, at)
	}
}

// find returns the user of a session. users returns the users in force: whoever was removed or has another password
// has no session any more.
func (s *sessions) find(secret string, users []User, now time.Time) (User, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := sha256.Sum256([]byte(secret))
	is, ok := s.all[key]
	if !ok {
		return User{}, false
	}
	at := userAt(users, is.user)
	if at < 0 || markOf(users[at]) != is.password || is.ended(now) {
		delete(s.all, key)
		return User{}, false
	}
	if is.used = now; now.Sub(is.kept) >= keepEvery {
		s.keep()
	}
	return users[at], true
}

// end ends a session.
func (s *sessions) end(secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, sha256.Sum256([]byte(secret)))
	s.keep()
}
