package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// voices makes one state for systemd from the states of several shards.
type voices struct {
	notify func(state string)

	mu     sync.Mutex     // guards the fields below
	spoke  map[int]bool   // shards that are crawled; true = alive since the last sign of life was passed on
	status map[int]string // what they do
}

// newVoices returns voices that notify systemd.
func newVoices(notify func(state string)) *voices {
	return &voices{notify: notify, spoke: map[int]bool{}, status: map[int]string{}}
}

// Of returns the function that receives the states of a shard, until end is called. The process is alive as long as all
// its shards are. A shard that stops is not counted any more.
func (v *voices) Of(shard int) (notify func(state string), end func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.spoke[shard] = false
	notify = func(state string) {
		for line := range strings.Lines(state) {
			v.hear(shard, strings.TrimSuffix(line, "\n"))
		}
	}
	return notify, func() { v.forget(shard) }
}

// hear passes on a line of a state.
func (v *voices) hear(shard int, line string) {
	status, isStatus := strings.CutPrefix(line, "STATUS=")
	switch {
	case line == "STOPPING=1":
		v.forget(shard)
	case line == "WATCHDOG=1":
		if v.allSpoke(shard) {
			v.notify(line)
		}
	case isStatus:
		v.notify("STATUS=" + v.describe(shard, status))
	default:
		v.notify(line)
	}
}

// forget ends the counting of a shard.
func (v *voices) forget(shard int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.spoke, shard)
	delete(v.status, shard)
}

// allSpoke notes a sign of life, and reports whether all shards have given one since the last time.
func (v *voices) allSpoke(shard int) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, crawled := v.spoke[shard]; !crawled {
		return false
	}
	v.spoke[shard] = true
	for _, spoke := range v.spoke {
		if !spoke {
			return false
		}
	}
	for other := range v.spoke {
		v.spoke[other] = false
	}
	return true
}

// describe notes what a shard does, and returns what all do.
func (v *voices) describe(shard int, status string) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, crawled := v.spoke[shard]; crawled {
		v.status[shard] = status
	}
	if len(v.status) == 0 {
		return status
	}
	var all []string
	for _, n := range slices.Sorted(maps.Keys(v.status)) {
		all = append(all, fmt.Sprintf("shard %d %s", n, v.status[n]))
	}
	return strings.Join(all, "; ")
}
