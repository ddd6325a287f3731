package daemon

import (
	"os"
	"path"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/internal/human"
)

const (
	// MaxGarbage is how much garbage may gather before it is collected, in percent of the memory in use.
	MaxGarbage = 50
	// minGarbage is how many bytes of garbage may gather in any case, up to MaxGarbage percent.
	minGarbage = 16 << 20
)

// LimitGarbage sets how much garbage may gather, in percent of the memory in use, unless the environment sets GOGC.
func LimitGarbage(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// boundGarbage sets how much garbage may gather, now and after each collection, until stop is called. It does nothing
// if the environment sets GOGC.
func boundGarbage() (stop func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	LimitGarbage(MaxGarbage)
	var stopped atomic.Bool
	boundAfterCollection(&stopped)
	return func() { stopped.Store(true) }
}

// boundAfterCollection sets the bound after the next collection, and after each one that follows. It needs no
// goroutine: an object is left to be collected, and the runtime calls the cleanup when it was.
func boundAfterCollection(stopped *atomic.Bool) {
	runtime.AddCleanup(new([2]uint64), func(stopped *atomic.Bool) {
		if stopped.Load() {
			return
		}
		h, current := lastCollection()
		if want := h.garbagePercent(); want != current { // setting it stops the program for a moment
			debug.SetGCPercent(want)
		}
		boundAfterCollection(stopped)
	}, stopped)
}

// heap holds what the last collection found, in bytes.
type heap struct {
	live    uint64 // in use
	scanned uint64 // of these, searched for pointers
	roots   uint64 // stacks and variables that were searched too
}

// garbagePercent returns how much garbage may gather, in percent of the memory in use, stacks and variables included.
//
// The cost of a collection is what it searches for pointers. A crawl has 30 to 100 MB in use, but only 3 to 8 MB have
// pointers: the rest is blocks of the store, memory tables and buffers. The runtime would allow as much garbage for
// those as for everything else. This allows as much as was searched, or minGarbage if that is more.
func (h heap) garbagePercent() int {
	allowed := max(minGarbage, h.scanned+h.roots)
	return int(min(MaxGarbage, 100*allowed/max(1, h.live+h.roots)))
}

// lastCollection returns what the last collection found, and how much garbage may gather until the next one.
func lastCollection() (h heap, percent int) {
	n, _ := readMetrics("/gc/heap/live:bytes", "/gc/scan/heap:bytes", "/gc/scan/total:bytes", "/gc/gogc:percent")
	return heap{live: n[0], scanned: n[1], roots: n[2] - min(n[1], n[2])}, int(n[3])
}

// readMetrics returns the values of metrics of the runtime. all is false if the runtime does not know one of them; its
// value is 0 then.
func readMetrics(names ...string) (values []uint64, all bool) {
	samples := make([]metrics.Sample, len(names))
	for i, name := range names {
		samples[i].Name = name
	}
	metrics.Read(samples)
	values, all = make([]uint64, len(samples)), true
	for i, s := range samples {
		if s.Value.Kind() != metrics.KindUint64 {
			all = false
			continue
		}
		values[i] = s.Value.Uint64()
	}
	return values, all
}

// The memory that a crawl may need. Ordinary crawls need a tenth of it; the rest is for the worst that servers send.
const (
	// baseMemory is for the store, its caches, and the tables that grow with the number of hosts.
	baseMemory = 400 << 20
	// serviceShare is the part of the service's memory that Go may use, in percent. The rest is for mapped files.
	serviceShare = 90
)

// MemoryNeed returns how many bytes of memory a crawl may need at most, by crawl.workers and change.max_size.
func MemoryNeed(c *config.Config, now time.Time) int64 {
	return baseMemory + crawler.VisitsNeed(c, now)
}

// limitMemory makes the runtime collect garbage before the process needs more memory than the settings allow, or than
// the service has, until stop is called. It does nothing if the environment sets GOMEMLIMIT.
func (d *Daemon) limitMemory(now time.Time, service int64) (stop func()) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	need := MemoryNeed(d.live.Current(), now)
	limit := need
	if usable := service / 100 * serviceShare; service > 0 && usable < need {
		limit = usable
		d.log.Warn().Str("service", human.Bytes(service)).Str("need", human.Bytes(need)).
			Msg("the service's limit of memory is less than the worst that servers send may need: the crawl may be slowed or " +
				"killed then; raise MemoryMax, or lower crawl.workers or change.max_size")
	}
	before := debug.SetMemoryLimit(limit)
	return func() { debug.SetMemoryLimit(before) }
}

// serviceMemory returns the limit of memory of the control group that this process is in, in bytes; 0 if it has none.
// list is the file that names the group, and root the folder of all groups.
func serviceMemory(list, root string) (least int64) {
	eachGroup(list, root, "", func(folder string) {
		if n := int64(groupNumber(filepath.Join(folder, "memory.max"))); n != 0 && (least == 0 || n < least) {
			least = n
		}
	})
	return least
}

// eachGroup calls use with the folders of the control group of this process and of the groups above it. Each line of
// the list of groups has a number, the names of controllers (none in version 2) and a path; groups of version 1 count
// if they are of the controller.
func eachGroup(list, root, controller string, use func(folder string)) {
	text, err := os.ReadFile(list)
	if err != nil {
		return
	}
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 || parts[1] != "" && parts[1] != controller {
			continue
		}
		for group := path.Join("/", parts[2]); ; group = path.Dir(group) {
			use(filepath.Join(root, parts[1], group))
			if group == "/" {
				break
			}
		}
	}
}

// groupNumber returns the number in a file of a control group; 0 if there is none, as in "max".
func groupNumber(file string) uint64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 63)
	if err != nil {
		return 0
	}
	return n
}

const (
	// freeAfter is how long the crawl rests before free memory is returned to the system. The store releases one of the up
	// to eight buffers in which it has built tables every two seconds.
	freeAfter = 20 * time.Second
	// minFree is how many bytes of free memory are worth returning.
	minFree = 8 << 20
)

// saveAtRest returns a function that saves processor time and memory from the moment the crawl rests until it
// resumes. The crawler calls it with true and false in turns.
func saveAtRest() func(rests bool) {
	processors, memory := oneProcessorAtRest(), freeMemoryAtRest(freeMemory)
	return func(rests bool) {
		processors(rests)
		memory(rests)
	}
}

// oneProcessorAtRest returns a function that runs the program on one processor while the crawl rests, and on as many as
// before when it resumes. At rest only the timers of the store run, forty times a second for some µs. With several
// processors, the Go runtime wakes another thread each time, to look for work that does not exist.
func oneProcessorAtRest() func(rests bool) {
	before := 0
	return func(rests bool) {
		switch {
		case rests:
			before = runtime.GOMAXPROCS(1)
		case os.Getenv("GOMAXPROCS") != "":
			runtime.GOMAXPROCS(before)
		default:
			runtime.SetDefaultGOMAXPROCS() // the number of processors may have changed
		}
	}
}

// freeMemoryAtRest returns a function that calls free when the crawl has rested for freeAfter. At rest so little is
// allocated that garbage would not be collected for minutes.
func freeMemoryAtRest(free func()) func(rests bool) {
	var due *time.Timer
	return func(rests bool) {
		if rests {
			due = time.AfterFunc(freeAfter, free)
		} else {
			due.Stop()
		}
	}
}

// freeMemory collects garbage and returns free memory to the system, if there may be enough of it.
func freeMemory() {
	if unusedMemory() >= minFree {
		debug.FreeOSMemory()
	}
}

// unusedMemory returns the bytes of the heap that are free, or that were allocated after the last collection and so
// may be garbage.
func unusedMemory() uint64 {
	n, all := readMetrics("/memory/classes/heap/free:bytes", "/memory/classes/heap/objects:bytes", "/gc/heap/live:bytes")
	if !all {
		return minFree
	}
	free, objects, live := n[0], n[1], n[2]
	return free + objects - min(objects, live)
}
