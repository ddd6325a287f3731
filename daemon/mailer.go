package daemon

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/mail"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/config/reach"
	"github.com/arcrawl/arcrawl/internal/atomicfile"
)

const (
	// mailEvery is the minimum time between two mails to a recipient, and between two attempts.
	mailEvery = time.Minute
	// mailTime is the maximum duration of the exchange about one mail.
	mailTime = 30 * time.Second
	// maxUnsent is the maximum number of notices that wait for a recipient. Older ones are dropped.
	maxUnsent = 200
	// digestFile is the file in the state folder with the day of the last digest.
	digestFile = "digest.day"
)

// mailer sends alarms and digests by e-mail, as [mail] of the configuration in force says.
type mailer struct {
	config  func() *config.Config
	summary func() mail.Summary // without Recent
	send    func(ctx context.Context, s reach.Mail, m mail.Message) error
	dir     string // state folder
	log     zerolog.Logger

	mu     sync.Mutex                         // guards the fields below
	unsent map[reach.Recipient][]alarm.Notice // that each recipient has not received
	recent []alarm.Notice                     // since the last digest
	owed   map[reach.Recipient]time.Time      // recipients of a digest that was not delivered yet, and its time

	failing map[string]bool // addresses to which the last mail was not delivered; only tick uses it
}

// add queues a notice for its recipients without waiting.
func (m *mailer) add(n alarm.Notice) {
	c := m.config().Mail
	if !c.On() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.recent = bounded(append(m.recent, n))
	if !c.Alarms {
		return
	}
	if m.unsent == nil {
		m.unsent = map[reach.Recipient][]alarm.Notice{}
	}
	for _, to := range c.Recipients() {
		if mail.Concerns(to, n.Host, n.Labels) {
			m.unsent[to] = bounded(append(m.unsent[to], n))
		}
	}
}

// bounded drops the oldest notices of a list that is too long.
func bounded(list []alarm.Notice) []alarm.Notice { return list[max(0, len(list)-maxUnsent):] }

// run sends what is queued once a minute, until ctx ends.
func (m *mailer) run(ctx context.Context) {
	for wait(ctx, mailEvery) == nil {
		m.tick(ctx, time.Now())
	}
}

// tick sends one mail to each recipient that has unsent notices, and the digest if it is time for it. What could not be
// delivered is sent again later.
func (m *mailer) tick(ctx context.Context, now time.Time) {
	c := m.config().Mail
	if !c.On() {
		return
	}
	m.orderDigest(c, now)
	for _, to := range c.Recipients() {
		m.mu.Lock()
		list := m.unsent[to]
		m.mu.Unlock()
		if len(list) == 0 {
			continue
		}
		subject, body := mail.Alarms(list)
		if m.deliver(ctx, c, to, subject, body, now) {
			m.mu.Lock()
			m.unsent[to] = m.unsent[to][min(len(list), len(m.unsent[to])):]
			m.mu.Unlock()
		}
	}
	m.sendDigests(ctx, c, now)
}

// orderDigest notes each day at the time of the digest that all recipients are owed one.
func (m *mailer) orderDigest(c reach.Mail, now time.Time) {
	at, ok := c.DigestAt()
	day := now.UTC().Truncate(24 * time.Hour)
	if !ok || now.Before(day.Add(at)) {
		return
	}
	path := filepath.Join(m.dir, digestFile)
	last, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) || strings.TrimSpace(string(last)) >= day.Format(time.DateOnly) {
		return
	}
	if err := atomicfile.Write(path, []byte(day.Format(time.DateOnly)+"\n"), 0o640); err != nil {
		m.log.Error().Err(err).Msg("could not store the day of the digest: no digest is sent today")
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.owed = map[reach.Recipient]time.Time{}
	for _, to := range c.Recipients() {
		m.owed[to] = now
	}
}

// sendDigests sends the digests that are owed. The notices since the last digest are dropped when all are delivered.
func (m *mailer) sendDigests(ctx context.Context, c reach.Mail, now time.Time) {
	m.mu.Lock()
	owed := len(m.owed)
	recent := m.recent
	m.mu.Unlock()
	if owed == 0 {
		return
	}
	s := m.summary()
	s.Recent = recent
	for _, to := range c.Recipients() {
		m.mu.Lock()
		_, due := m.owed[to]
		m.mu.Unlock()
		if !due {
			continue
		}
		subject, body := mail.Digest(s, to)
		if m.deliver(ctx, c, to, subject, body, now) {
			m.mu.Lock()
			delete(m.owed, to)
			m.mu.Unlock()
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.owed) == 0 {
		m.recent = m.recent[min(len(recent), len(m.recent)):]
	}
}

// deliver sends a mail and reports whether it was taken.
func (m *mailer) deliver(
	ctx context.Context, c reach.Mail, to reach.Recipient, subject, body string, now time.Time,
) bool {
	ctx, cancel := context.WithTimeout(ctx, mailTime)
	defer cancel()
	err := m.send(ctx, c, mail.Message{From: c.From, To: to.Address, Subject: subject, Body: body, Date: now})
	switch {
	case err != nil && !m.failing[to.Address]:
		m.log.Warn().Err(err).Msg("could not deliver a mail: trying again each minute")
	case err == nil && m.failing[to.Address]:
		m.log.Info().Str("to", to.Address).Msg("mail is delivered again")
	}
	if m.failing == nil {
		m.failing = map[string]bool{}
	}
	m.failing[to.Address] = err != nil
	return err == nil
}
