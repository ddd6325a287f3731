// This file sends alarms and digests by e-mail while the daemon runs.
//
// Notices wait in the outbox, a file, until the server has taken the mail; so a restart loses none.

package messages

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

const (
	// mailEvery is the minimum time between two mails to a recipient, and between two attempts.
	mailEvery = time.Minute
	// mailTime is the maximum duration of the exchange about one mail.
	mailTime = 30 * time.Second
	// digestFile is the file in the state folder with the day of the last digest.
	digestFile = "digest.day"
)

// mailer sends alarms and digests by e-mail, as [mail] of the configuration in force says. Add may be called at the
// same time as Run.
type mailer struct {
	config  func() *config.Config
	summary func() (s summary, ok bool)                                   // without Recent; not ok = none now
	each    func(since time.Time, use func(api.Capture)) (from time.Time) // see captures.Store.Each
	send    func(ctx context.Context, s config.Mail, m mail) error
	dir     string // state folder
	outbox  *outbox
	now     func() time.Time
	log     zerolog.Logger

	failing map[string]bool // addresses to which the last mail was not delivered; only tick uses it
}

// Add queues notices for their recipients. It writes a file, and does not wait for the network.
func (m *mailer) Add(list []notice) {
	c := m.config().Mail
	if !isOn(c) {
		return
	}
	m.check(m.outbox.Add(list, func(n notice) (receivers []string) {
		for _, to := range c.Recipients() {
			if c.Alarms && concerns(to, n.Host, n.Names()) {
				receivers = append(receivers, receiverOf(to))
			}
		}
		return receivers
	}, true))
}

// check logs an error of the outbox.
func (m *mailer) check(err error) {
	if err != nil {
		m.log.Warn().Err(err).Msg("alarms for e-mail are lost, or sent twice, if the daemon ends before they are delivered")
	}
}

// Run sends what is queued once a minute, until ctx ends.
func (m *mailer) Run(ctx context.Context) {
	for wait(ctx, mailEvery) == nil {
		m.tick(ctx, m.now())
	}
}

// tick sends one mail to each recipient that has unsent notices, and the digest if it is time for it. What could not be
// delivered is sent again later.
func (m *mailer) tick(ctx context.Context, now time.Time) {
	c := m.config().Mail
	if !isOn(c) {
		return
	}
	m.orderDigest(c, now)
	for _, to := range c.Recipients() {
		waiting, outdated := m.outbox.For(receiverOf(to), now)
		if outdated > 0 {
			m.log.Error().Str("to", to.Address).Int("alarms", outdated).Msg("dropped alarms that could not be mailed for days")
		}
		if len(waiting) == 0 {
			continue
		}
		list := make([]notice, len(waiting))
		for i, e := range waiting {
			list[i] = e.Notice
		}
		subject, body := alarmMail(list)
		if m.deliver(ctx, c, to, subject, body, now) {
			m.check(m.outbox.Taken(receiverOf(to), waiting[len(waiting)-1].Seq))
		}
	}
	m.sendDigests(ctx, c, now)
}

// orderDigest notes each day at the time of the digest which recipients are owed one. A digest of a day on which the
// daemon did not run is owed later.
func (m *mailer) orderDigest(c config.Mail, now time.Time) {
	at, ok := digestAt(c)
	day := now.UTC().Truncate(24 * time.Hour)
	if !ok || now.Before(day.Add(at)) {
		return
	}
	path := filepath.Join(m.dir, digestFile)
	last, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) || strings.TrimSpace(string(last)) >= day.Format(time.DateOnly) {
		return
	}
	if err := fileio.Write(path, []byte(day.Format(time.DateOnly)+"\n"), 0o640); err != nil {
		m.log.Error().Err(err).Msg("could not store the day of the digest: no digest is sent today")
		return
	}
	done := strings.TrimSpace(string(last))
	if done == "" {
		done = day.AddDate(0, 0, -1).Format(time.DateOnly)
	}
	var receivers []string
	for _, to := range c.Recipients() {
		if digestDay(to, day).Format(time.DateOnly) > done {
			receivers = append(receivers, receiverOf(to))
		}
	}
	if len(receivers) > 0 {
		m.check(m.outbox.Owe(receivers, now))
	}
}

// sendDigests sends the digests that are owed, each with what came since the last one.
func (m *mailer) sendDigests(ctx context.Context, c config.Mail, now time.Time) {
	owed, recent := m.outbox.Digest(now)
	if len(owed) == 0 {
		return
	}
	s, ok := m.summary()
	if !ok {
		return // the next tick tries again
	}
	s.Recent = recent
	var done []string
	var all []*news
	for _, to := range c.Recipients() {
		if last, ok := owed[receiverOf(to)]; ok {
			delete(owed, receiverOf(to))
			all = append(all, newNews(to, last, now, noticeMaxAge))
		}
	}
	fillNews(all, m.each, s.Names)
	for _, n := range all {
		subject, body := digestMail(s, n)
		if m.deliver(ctx, c, n.To, subject, body, now) {
			done = append(done, receiverOf(n.To))
		}
	}
	for to := range owed { // the configuration no longer names them
		done = append(done, to)
	}
	if len(done) > 0 {
		m.check(m.outbox.Sent(done, now))
	}
}

// deliver sends a mail and reports whether it was taken.
func (m *mailer) deliver(
	ctx context.Context, c config.Mail, to config.Recipient, subject, body string, now time.Time,
) bool {
	ctx, cancel := context.WithTimeout(ctx, mailTime)
	defer cancel()
	err := m.send(ctx, c, mail{From: c.From, To: to.Address, Subject: subject, Body: body, Date: now})
	switch {
	case err != nil && !m.failing[to.Address]:
		m.log.Warn().Err(err).Msg("could not deliver a mail: trying again each minute")
	case err == nil && m.failing[to.Address]:
		m.log.Info().Str("to", to.Address).Msg("mail is delivered again")
	}
	m.failing[to.Address] = err != nil
	return err == nil
}
