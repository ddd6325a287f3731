// Package outbox keeps the notices of alarms that a webhook or a recipient of mail has not received yet. They are in a
// file, so that they survive a restart.
package outbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/internal/atomicfile"
)

const (
	// Max is the maximum number of notices that wait for a receiver. The oldest ones are dropped.
	Max = 200
	// MaxAge is the age at which a notice is outdated: nobody needs it any more.
	MaxAge = 3 * 24 * time.Hour
	// maxReceivers bounds the receivers with waiting notices. Those that the configuration names are far fewer.
	maxReceivers = 200
)

// Entry is a notice that waits for a receiver.
type Entry struct {
	Seq    uint64       `json:"seq"` // grows with each entry
	Notice alarm.Notice `json:"notice"`
}

// content is the content of the file.
type content struct {
	Seq     uint64               `json:"seq"` // of the last entry
	Waiting map[string][]Entry   `json:"waiting"`
	Recent  []alarm.Notice       `json:"recent"` // since the last digest
	Owed    map[string]time.Time `json:"owed"`   // receivers of a digest that was not delivered yet, and its time
}

// Outbox holds the notices. Its methods are safe for concurrent use. An error of a method means that the change is not
// in the file; it applies until the program ends.
type Outbox struct {
	file string // "" stores nothing

	mu sync.Mutex // guards the field below
	content
}

// Open reads the file of an earlier run. If it is damaged, the outbox is empty and usable, and the error says so.
func Open(file string) (*Outbox, error) {
	o := &Outbox{file: file}
	if file == "" {
		return o, nil
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return o, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &o.content)
	}
	if err != nil {
		o.content = content{}
		return o, fmt.Errorf("read the alarms that were not delivered: %w", err)
	}
	return o, nil
}

// save writes the file. The caller holds o.mu.
func (o *Outbox) save() error {
	if o.file == "" {
		return nil
	}
	text, err := json.Marshal(o.content)
	if err == nil {
		err = atomicfile.Write(o.file, text, 0o640)
	}
	if err != nil {
		return fmt.Errorf("store the alarms that were not delivered: %w", err)
	}
	return nil
}

// Add adds notices. receivers returns who receives a notice. With digest, the next digest lists the notice too.
func (o *Outbox) Add(list []alarm.Notice, receivers func(alarm.Notice) []string, digest bool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	changed := false
	for _, n := range list {
		for _, to := range receivers(n) {
			if len(o.Waiting[to]) == 0 && len(o.Waiting) >= maxReceivers {
				continue
			}
			if o.Waiting == nil {
				o.Waiting = map[string][]Entry{}
			}
			o.Seq++
			o.Waiting[to] = newest(append(o.Waiting[to], Entry{o.Seq, n}))
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
func newest[E any](list []E) []E { return list[max(0, len(list)-Max):] }

// For returns the notices that wait for a receiver, oldest first. It drops outdated ones and returns their number.
func (o *Outbox) For(to string, now time.Time) (waiting []Entry, outdated int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := o.Waiting[to]
	waiting = slices.Clone(all)
	waiting = slices.DeleteFunc(waiting, func(e Entry) bool { return now.Sub(e.Notice.At) > MaxAge })
	if outdated = len(all) - len(waiting); outdated > 0 {
		o.set(to, slices.Clone(waiting))
	}
	return waiting, outdated
}

// Taken removes the notices of a receiver up to the one with the number seq.
func (o *Outbox) Taken(to string, seq uint64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.set(to, slices.DeleteFunc(o.Waiting[to], func(e Entry) bool { return e.Seq <= seq }))
	return o.save()
}

// set replaces the notices of a receiver. The caller holds o.mu.
func (o *Outbox) set(to string, list []Entry) {
	if len(list) == 0 {
		delete(o.Waiting, to)
		return
	}
	o.Waiting[to] = list
}

// Forget drops what waits for receivers that are not wanted, because the configuration no longer names them.
func (o *Outbox) Forget(wanted func(to string) bool) error {
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

// Owe notes that receivers are owed a digest as of now.
func (o *Outbox) Owe(receivers []string, now time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.Owed = map[string]time.Time{}
	for _, to := range receivers {
		o.Owed[to] = now.UTC()
	}
	return o.save()
}

// Digest returns the receivers that are owed a digest, and what was raised and cleared since the last one. Digests
// that are outdated are not owed any more.
func (o *Outbox) Digest(now time.Time) (owed map[string]bool, recent []alarm.Notice) {
	o.mu.Lock()
	defer o.mu.Unlock()
	owed = map[string]bool{}
	for to, at := range o.Owed {
		if now.Sub(at) > MaxAge {
			delete(o.Owed, to)
			continue
		}
		owed[to] = true
	}
	return owed, slices.Clone(o.Recent)
}

// Sent records that the digest with the first n recent notices was delivered to the receivers. When nobody is owed one
// any more, these notices are dropped.
func (o *Outbox) Sent(receivers []string, n int) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, to := range receivers {
		delete(o.Owed, to)
	}
	if len(o.Owed) == 0 {
		o.Recent = o.Recent[min(n, len(o.Recent)):]
	}
	return o.save()
}
