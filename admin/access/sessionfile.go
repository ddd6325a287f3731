package access

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/internal/fileio"
)

// keepEvery is how often the file hears that a session is used.
const keepEvery = 5 * time.Minute

// maxSessionFile is the maximum size of a file of sessions, in bytes.
const maxSessionFile = 4 << 20

// sessionFile is where sessions are kept.
type sessionFile struct {
	path string
	log  zerolog.Logger
}

// keptSession is a session as its file has it. Who reads the file learns neither a secret nor a password.
type keptSession struct {
	Secret   string    `json:"secret"` // SHA-256 of the secret in the cookie
	User     string    `json:"user"`
	Password string    `json:"password"` // SHA-256 of the hash of the password
	Began    time.Time `json:"began"`
	Used     time.Time `json:"used"`
}

// markOf returns a text that differs for each password of a user.
func markOf(u User) string {
	sum := sha256.Sum256([]byte("session\n" + u.Hash))
	return hex.EncodeToString(sum[:])
}

// Keep keeps the sessions in a file, so that nobody has to sign in again because the daemon was started again. It reads
// the sessions that the file has; those that have ended meanwhile are forgotten.
func (s *SignIns) Keep(path string, log zerolog.Logger) {
	s.sessions.mu.Lock()
	defer s.sessions.mu.Unlock()
	s.sessions.keeps = &sessionFile{path, log}
	err := s.sessions.read(path, s.now())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Warn().Err(err).Msg("could not read who is signed in: everybody signs in again")
	}
}

// read adds the sessions of a file. The caller holds mu.
func (s *sessions) read(path string, now time.Time) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Size() > maxSessionFile {
		return fmt.Errorf("%s has %d bytes, more than %d", path, info.Size(), maxSessionFile)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var all []keptSession
	if err := json.Unmarshal(text, &all); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, k := range all {
		key, err := hex.DecodeString(k.Secret)
		is := &session{user: k.User, password: k.Password, began: k.Began, used: k.Used, kept: k.Used}
		future := k.Used.After(now) || k.Began.After(now) // somebody has set the clock back
		if err == nil && len(key) == sha256.Size && !future && !is.ended(now) && len(s.all) < maxSessions {
			s.all[[sha256.Size]byte(key)] = is
		}
	}
	return nil
}

// keep writes the file. A failure ends no session: it is logged, and the sessions end with the process. The caller
// holds mu.
func (s *sessions) keep() {
	if s.keeps == nil {
		return
	}
	all := make([]keptSession, 0, len(s.all))
	for key, is := range s.all {
		is.kept = is.used
		all = append(all, keptSession{hex.EncodeToString(key[:]), is.user, is.password, is.began, is.used})
	}
	if err := s.keeps.write(all); err != nil {
		s.keeps.log.Error().Err(err).
			Msg("could not store who is signed in: users sign in again after the next start; is the disk full?")
	}
}

func (f *sessionFile) write(all []keptSession) error {
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return fileio.Write(f.path, text, 0o600)
}
