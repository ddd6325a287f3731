package feeds

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

// maxBody is how much of a notification is read to check its signature.
const maxBody = 16 << 20

// maxChallenge is the maximum length of a challenge.
const maxChallenge = 4096

// Serve answers a hub: it confirms subscriptions (GET) and receives notifications (POST).
func (s *Subscriber) Serve(w http.ResponseWriter, r *http.Request, now time.Time) {
	id := path.Base(r.URL.Path)
	switch r.Method {
	case http.MethodGet:
		s.verify(w, r, id, now)
	case http.MethodPost:
		s.receive(w, r, id, now)
	default:
		w.Header().Set("Allow", "GET, POST")
		http.Error(w, "use GET or POST", http.StatusMethodNotAllowed)
	}
}

// verify confirms a subscription that the hub asks about (W3C WebSub, 5.3), and notes refusals (5.2).
func (s *Subscriber) verify(w http.ResponseWriter, r *http.Request, id string, now time.Time) {
	q := r.URL.Query()
	mode, challenge := q.Get("hub.mode"), q.Get("hub.challenge")
	s.mu.Lock()
	sub := s.subs[id]
	expected := sub != nil && sub.topic.String() == q.Get("hub.topic")
	switch {
	case !expected:
	case mode == "denied":
		sub.pending, sub.until, sub.due = false, time.Time{}, now.Add(maxRetry)
	case mode == "subscribe" && sub.pending && challenge != "" && len(challenge) <= maxChallenge:
		lease := s.o.Lease
		if seconds, err := strconv.ParseInt(q.Get("hub.lease_seconds"), 10, 32); err == nil && seconds > 0 {
			lease = min(lease, time.Duration(seconds)*time.Second) // a longer one is renewed in time
		}
		sub.pending, sub.failures = false, 0
		sub.until = now.Add(lease)
		sub.due = now.Add(max(lease*4/5, minLease)) // before it ends
	default:
		expected = false
	}
	s.mu.Unlock()
	if !expected {
		http.Error(w, "there is no such request", http.StatusNotFound)
		return
	}
	if mode == "denied" {
		s.o.Log.Warn().Str("topic", q.Get("hub.topic")).Str("reason", clip(q.Get("hub.reason"))).
			Msg("a WebSub hub refused a subscription: the feed is only polled; asking again in 24 hours")
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = io.WriteString(w, challenge)
}

// receive accepts a notification (W3C WebSub, 7). It ignores one with a missing or wrong signature.
func (s *Subscriber) receive(w http.ResponseWriter, r *http.Request, id string, now time.Time) {
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
		s.o.Log.Warn().Str("topic", sub.topic.String()).Msg("ignoring a WebSub notification: wrong signature")
		return
	}
	s.mu.Lock()
	trigger := now.Sub(sub.triggered) >= triggerInterval || sub.triggered.After(now)
	if trigger {
		sub.triggered = now
	}
	s.mu.Unlock()
	if trigger {
		s.o.Notify(sub.feed)
	}
}

// signed reports whether a signature fits the body (W3C WebSub, 7.1).
func signed(signature, secret string, body io.Reader) bool {
	method, sum, _ := strings.Cut(signature, "=")
	var newHash func() hash.Hash
	switch strings.ToLower(method) {
	case "sha1": // older hubs have only this
		newHash = sha1.New
	case "sha256":
		newHash = sha256.New
	case "sha384":
		newHash = sha512.New384
	case "sha512":
		newHash = sha512.New
	default:
		return false
	}
	want, err := hex.DecodeString(sum)
	if err != nil {
		return false
	}
	mac := hmac.New(newHash, []byte(secret))
	if _, err := io.Copy(mac, body); err != nil {
		return false
	}
	return hmac.Equal(mac.Sum(nil), want)
}

// clip shortens a text from outside for the log.
func clip(s string) string { return s[:min(len(s), 200)] }
