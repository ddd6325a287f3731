package websub

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"hash"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"
)

// maxBody is how much of a notification is read, for its signature alone.
const maxBody = 16 << 20

// maxChallenge is the longest challenge that is sent back.
const maxChallenge = 4096

// Serve answers a hub: it verifies what it asked for (GET), and takes notifications (POST).
func (s *Subscriber) Serve(w http.ResponseWriter, r *http.Request, now time.Time) {
	id := path.Base(r.URL.Path)
	switch r.Method {
	case http.MethodGet:
		s.verify(w, r, id, now)
	case http.MethodPost:
		s.notified(w, r, id, now)
	default:
		w.Header().Set("Allow", "GET, POST")
		http.Error(w, "only GET and POST", http.StatusMethodNotAllowed)
	}
}

// verify answers the hub's question whether we meant it (W3C WebSub, 5.3), and takes its refusals (5.2).
func (s *Subscriber) verify(w http.ResponseWriter, r *http.Request, id string, now time.Time) {
	q := r.URL.Query()
	mode, challenge := q.Get("hub.mode"), q.Get("hub.challenge")
	s.mu.Lock()
	sub := s.subs[id]
	known := sub != nil && sub.topic.String() == q.Get("hub.topic")
	switch {
	case !known:
	case mode == "denied":
		sub.pending, sub.until, sub.due = false, time.Time{}, now.Add(lastRetry)
	case mode == "subscribe" && sub.pending && challenge != "" && len(challenge) <= maxChallenge:
		lease := s.o.Lease
		if seconds, err := strconv.ParseInt(q.Get("hub.lease_seconds"), 10, 32); err == nil && seconds > 0 {
			lease = time.Duration(seconds) * time.Second
		}
		sub.pending, sub.failures = false, 0
		sub.until = now.Add(lease)
		sub.due = now.Add(max(lease*4/5, shortestLease)) // before it ends
	default:
		known = false
	}
	s.mu.Unlock()
	if !known {
		http.Error(w, "nothing of the kind was asked for", http.StatusNotFound)
		return
	}
	if mode == "denied" {
		s.o.Log.Warn().Str("topic", q.Get("hub.topic")).Str("reason", clip(q.Get("hub.reason"))).Msg("a WebSub hub refuses a subscription: the feed is polled")
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = io.WriteString(w, challenge)
}

// notified takes a notification (W3C WebSub, 7). One that is not signed as it must be is taken and ignored.
func (s *Subscriber) notified(w http.ResponseWriter, r *http.Request, id string, now time.Time) {
	s.mu.Lock()
	sub := s.subs[id]
	var secret string
	if sub != nil {
		secret = sub.secret
	}
	s.mu.Unlock()
	if sub == nil {
		http.Error(w, "this subscription has ended", http.StatusGone)
		return
	}
	genuine := signed(r.Header.Get("X-Hub-Signature"), secret, http.MaxBytesReader(w, r.Body, maxBody))
	w.WriteHeader(http.StatusAccepted)
	if !genuine {
		s.o.Log.Warn().Str("topic", sub.topic.String()).Msg("a WebSub notification with a wrong signature is ignored")
		return
	}
	s.mu.Lock()
	again := now.Sub(sub.triggered) >= s.o.MinInterval || sub.triggered.After(now)
	if again {
		sub.triggered = now
	}
	s.mu.Unlock()
	if again {
		s.o.Notify(sub.feed)
	}
}

// signed reports whether the signature is that of the body (W3C WebSub, 7.1).
func signed(signature, secret string, body io.Reader) bool {
	method, sum, _ := strings.Cut(signature, "=")
	var of func() hash.Hash
	switch strings.ToLower(method) {
	case "sha1": // what the older hubs know
		of = sha1.New
	case "sha256":
		of = sha256.New
	case "sha384":
		of = sha512.New384
	case "sha512":
		of = sha512.New
	default:
		return false
	}
	want, err := hex.DecodeString(sum)
	if err != nil {
		return false
	}
	mac := hmac.New(of, []byte(secret))
	if _, err := io.Copy(mac, body); err != nil {
		return false
	}
	return hmac.Equal(mac.Sum(nil), want)
}

// clip is a stranger's text for our log.
func clip(s string) string { return s[:min(len(s), 200)] }
