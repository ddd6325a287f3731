package messages

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	// maxWaiting is the maximum number of notices that wait for a receiver. The oldest ones are dropped.
	maxWaiting = 200
	// noticeMaxAge is the age at which a notice is outdated: nobody needs it any more.
	noticeMaxAge = 3 * 24 * time.Hour
	// digestMaxAge is how long notices are kept for digests. It is longer than a week and the time in which a digest
	// can be delivered.
	digestMaxAge = 11 * 24 * time.Hour
	// maxReceivers bounds the receivers with waiting notices. Those that the configuration names are far fewer.
	maxReceivers = 200
)

// waitingNotice is a notice that waits for a receiver.
type waitingNotice struct {
	Seq    uint64 `json:"seq"` // grows with each entry
	Notice notice `json:"notice"`
}

// outboxContent holds what the file has.
type outboxContent struct {
	Seq     uint64                     `json:"seq"` // of the last entry
	Waiting map[string][]waitingNotice `json:"waiting"`
	Recent  []notice                   `json:"recent"` // for digests
	Owed    map[string]time.Time       `json:"owed"`   // receivers of a digest that was not delivered yet, and its time

	Digests map[string]time.Time `json:"digests,omitempty"` // receivers, and the time of the last digest that they took
}

// outbox holds the notices. Its methods are safe for concurrent use. An error of a method means that the change is not
// in the file; it applies until the program ends.
type outbox struct {
	file stored

	mu sync.Mutex // guards the field below
	outboxContent
}

// openOutbox reads the file of an earlier run. If it is damaged, the outbox is empty and usable, and the error says so.
func openOutbox(file string) (*outbox, error) {
	o := &outbox{file: stored(file)}
	if err := o.file.Read(&o.outboxContent); err != nil {
		o.outboxContent = outboxContent{}
		return o, fmt.Errorf("read the alarms that were not delivered: %w", err)
	}
	return o, nil
}

// save writes the file. The caller holds o.mu.
func (o *outbox) save() error {
	if err := o.file.Write(o.outboxContent); err != nil {
		return fmt.Errorf("store the alarms that were not delivered: %w", err)
	}
	return nil
}

// Add adds notices. receivers returns who receives a notice. With digest, the next digest lists the notice too.
func (o *outbox) Add(list []notice, receivers func(notice) []string, digest bool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	changed := false
	for _, n := range list {
		for _, to := range receivers(n) {
			if len(o.Waiting[to]) == 0 && len(o.Waiting) >= maxReceivers {
				continue
			}
			if o.Waiting == nil {
				o.Waiting = map[string][]waitingNotice{}
			}
			o.Seq++
			o.Waiting[to] = newest(append(o.Waiting[to], waitingNotice{o.Seq, n}))
			changed = true
		}
		if digest {
			o.Recent, changed = newest(append(o.Recent, n)), true
		}
	}
	if !changed {
		return nil
	}
	return o.save()
}

// newest drops the oldest elements of a list that is too long.
func newest[E any](list []E) []E { return list[max(0, len(list)-maxWaiting):] }

// For returns the notices that wait for a receiver, oldest first. It drops outdated ones and returns their number.
func (o *outbox) For(to string, now time.Time) (waiting []waitingNotice, outdated int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := o.Waiting[to]
	waiting = slices.Clone(all)
	waiting = slices.DeleteFunc(waiting, func(e waitingNotice) bool { return now.Sub(e.Notice.At) > noticeMaxAge })
	if outdated = len(all) - len(waiting); outdated > 0 {
		o.set(to, slices.Clone(waiting))
	}
	return waiting, outdated
}

// Taken removes the notices of a receiver up to the one with the number seq.
func (o *outbox) Taken(to string, seq uint64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.set(to, slices.DeleteFunc(o.Waiting[to], func(e waitingNotice) bool { return e.Seq <= seq }))
	return o.save()
}

// set replaces the notices of a receiver. The caller holds o.mu.
func (o *outbox) set(to string, list []waitingNotice) {
	if len(list) == 0 {
		delete(o.Waiting, to)
		return
	}
	o.Waiting[to] = list
}

// Forget drops what waits for receivers that are not wanted, because the configuration no longer names them.
func (o *outbox) Forget(wanted func(to string) bool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	changed := false
	for to := range o.Waiting {
		if !wanted(to) {
			delete(o.Waiting, to)
			changed = true
		}
	}
	if !changed {
		return nil
	}
	return o.save()
}

// Owe notes that receivers are owed a digest as of now. What others are owed stays.
func (o *outbox) Owe(receivers []string, now time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.Owed == nil {
		o.Owed = map[string]time.Time{}
	}
	for _, to := range receivers {
		o.Owed[to] = now.UTC()
	}
	return o.save()
}

// Digest returns the receivers that are owed a digest, each with the time of the last digest that it took, and what
// was raised and cleared lately. Digests that are outdated are not owed any more.
func (o *outbox) Digest(now time.Time) (owed map[string]time.Time, recent []notice) {
	o.mu.Lock()
	defer o.mu.Unlock()
	owed = map[string]time.Time{}
	for to, when := range o.Owed {
		if now.Sub(when) > noticeMaxAge {
			delete(o.Owed, to)
			continue
		}
		owed[to] = o.Digests[to]
	}
	return owed, slices.Clone(o.Recent)
}

// Sent records that receivers took the digest of now. It drops what is too old for the next one.
func (o *outbox) Sent(receivers []string, now time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	maps.DeleteFunc(o.Digests, func(_ string, at time.Time) bool { return now.Sub(at) > digestMaxAge })
	for _, to := range receivers {
		delete(o.Owed, to)
		if o.Digests == nil {
			o.Digests = map[string]time.Time{}
		}
		o.Digests[to] = now.UTC()
	}
	o.Recent = slices.DeleteFunc(o.Recent, func(n notice) bool { return now.Sub(n.At) > digestMaxAge })
	return o.save()
}
