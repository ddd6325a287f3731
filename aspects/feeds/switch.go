package feeds

import (
	"net/http"
	"sync"
	"time"
)

// PushSwitch passes the requests of hubs, which come to one address, on to several subscribers. The zero value has
// none. It is safe for concurrent use.
type PushSwitch struct {
	mu  sync.Mutex // guards the field below
	all map[int]*Subscriber
}

// Set notes the subscriber with a number; nil removes it.
func (s *PushSwitch) Set(number int, one *Subscriber) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[int]*Subscriber{}
	}
	if s.all[number] = one; one == nil {
		delete(s.all, number)
	}
}

// Serve passes a request on to the subscriber that has asked for the subscription, or else to any, which refuses it.
func (s *PushSwitch) Serve(w http.ResponseWriter, r *http.Request, now time.Time) {
	s.mu.Lock()
	var to *Subscriber
	for _, subscriber := range s.all {
		if to == nil || subscriber.asked(r) {
			to = subscriber
		}
	}
	s.mu.Unlock()
	if to == nil {
		http.Error(w, "nothing is crawled here now", http.StatusServiceUnavailable)
		return
	}
	to.Serve(w, r, now)
}
