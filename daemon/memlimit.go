package daemon

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/human"
)

// The memory that a crawl may need. Ordinary crawls need a tenth of it; the rest is for the worst that servers send.
const (
	// baseMemory is for the store, its caches, and the tables that grow with the number of hosts.
	baseMemory = 400 << 20
	// visitMemory is for one visit: buffers, and the largest windows of decoders (16 MiB).
	visitMemory = 18 << 20
	// comparedCopies is how often a content that is compared is in memory: as text, scrubbed, and in between.
	comparedCopies = 3
	// serviceShare is the part of the service's memory that Go may use, in percent. The rest is for mapped files.
	serviceShare = 90
)

// MemoryNeed returns how many bytes of memory a crawl may need at most, by crawl.workers and change.max_size.
func MemoryNeed(c *config.Config, now time.Time) int64 {
	return baseMemory + int64(c.Crawl.Workers)*(visitMemory+comparedCopies*c.ForHost("", now).Change.MaxSize)
}

// limitMemory makes the runtime collect garbage before the process needs more memory than the settings allow, or than
// the service has, until stop is called. It does nothing if the environment sets GOMEMLIMIT.
func (d *Daemon) limitMemory(now time.Time, service int64) (stop func()) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	need := MemoryNeed(d.live.Current(), now) + int64(max(0, d.daemons-1))*baseMemory
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
// proc is the file that names the group, and groups the folder of all groups.
func serviceMemory(proc, groups string) int64 {
	text, err := os.ReadFile(proc)
	if err != nil {
		return 0
	}
	_, path, found := strings.Cut("\n"+string(text), "\n0::")
	if !found {
		return 0
	}
	path, _, _ = strings.Cut(path, "\n")
	least := int64(0)
	for dir := filepath.Clean("/" + path); ; dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(groups, dir, "memory.max"))
		n, bad := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err == nil && bad == nil && (least == 0 || n < least) {
			least = n
		}
		if dir == "/" {
			return least
		}
	}
}
