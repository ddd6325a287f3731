package messages

import (
	"fmt"
	"maps"
	"sync"
	"time"
)

// placesFile is the file in the state folder with what subscribers were sent last.
const placesFile = "subscriptions.json"

// placeEvery is how long a place is only in memory if nothing was sent. After a crash, changes that the subscription
// did not select are read again.
const placeEvery = time.Hour

// place says what a receiver of a subscription was sent.
type place struct {
	Noted  noted     `json:"noted"`
	Digest time.Time `json:"digest,omitzero"` // when its last digest was due
}

// noted says which changes were considered. The file has the time in a field that is named 0.
type noted struct {
	Upto time.Time `json:"0,omitzero"` // of the last one
}

// places holds the places of all receivers. Its methods are safe for concurrent use.
type places struct {
	file stored

	mu    sync.Mutex // guards the fields below
	all   map[string]place
	saved time.Time
	dirty bool // the file lacks something
}

// openPlaces reads the file of an earlier run. If it is damaged, there are no places, and the error says so.
func openPlaces(file string) (*places, error) {
	p := &places{file: stored(file)}
	err := p.file.Read(&p.all)
	if err != nil || p.all == nil {
		p.all = map[string]place{}
	}
	if err != nil {
		return p, fmt.Errorf("read what subscribers were sent: %w", err)
	}
	return p, nil
}

// Of returns the place of a receiver; an empty one if it is new.
func (p *places) Of(key string) place {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all[key]
}

// Put replaces a place. With atOnce it is stored before Put returns.
func (p *places) Put(key string, at place, now time.Time, atOnce bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	old, known := p.all[key]
	if known && old.Digest.Equal(at.Digest) && old.Noted.Upto.Equal(at.Noted.Upto) {
		return nil
	}
	p.all[key], p.dirty = at, true
	if !atOnce && known && now.Sub(p.saved) < placeEvery {
		return nil
	}
	p.saved = now
	return p.save()
}

// Forget drops the places of receivers that are not named.
func (p *places) Forget(named map[string]bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := len(p.all)
	maps.DeleteFunc(p.all, func(key string, _ place) bool { return !named[key] })
	if len(p.all) == before {
		return nil
	}
	p.dirty = true
	return p.save()
}

// Save stores what is only in memory.
func (p *places) Save() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.dirty {
		return nil
	}
	return p.save()
}

// save writes the file. The lock is held.
func (p *places) save() error {
	if err := p.file.Write(p.all); err != nil {
		return fmt.Errorf("store what subscribers were sent: %w", err)
	}
	p.dirty = false
	return nil
}
