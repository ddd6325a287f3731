package house_test

import (
	"path"
	"slices"
	"strings"
)

// floors lists the rooms of each floor, the lowest floor first. Imports only go down. A folder that is not listed
// belongs to the room above it.
var floors = [][]string{
	0: {
		"internal/atomicfile", "internal/bloom", "internal/human", "internal/mediatype", "internal/panics",
		"internal/pattern", "internal/textfile", "evaluators/rate",
	},
	1: {
		"evaluators/capacity", "uri", "digest", "daemon/journal",
	},
	2: {
		"evaluators", "fetch/h2", "fetch/names", "fetch/proxy",
		"frontier/pageout", "frontier/recent", "frontier/reserve", "frontier/shared", "discover/text",
		"hosts/rows", "config/about",
	},
	3: {
		"fetch", "frontier", "warcout", "dedup",
		"discover", "discover/feeds", "discover/render", "discover/websub",
		"hosts/cookies", "hosts/daily", "hosts/reputation", "hosts/similar", "crawllog",
		"scope/robots", "scope/spaces", "scope/traps",
		"config/criteria", "config/document", "config/domain", "config/rendering",
	},
	4: {
		"frontier/backup", "frontier/damage", "frontier/mirror", "scope",
		"config/caution", "config/local", "config/network", "config/reach", "config/request", "config/value",
		"crawler/answer",
	},
	5: {
		"crawllog/stats", "config", "archive/parallel", "archive/sortedlines", "archive/warc",
	},
	6: {
		"crawllog/stats/table", "config/heritrix", "config/patch", "config/reference",
		"archive/fixity", "archive/index", "archive/survey",
		"crawler/demand", "crawler/feedread", "crawler/history", "crawler/midfetch",
		"crawler/policy", "crawler/proxies", "crawler/resolved", "crawler/space", "crawler/untrap",
		"crawler/uplink", "crawler/wall",
	},
	7: {
		"digest/trial", "archive", "archive/depend", "sim",
		"crawler/clock", "crawler/compare", "crawler/dating", "crawler/evict", "crawler/faults", "crawler/heal",
		"crawler/pause", "crawler/payload", "crawler/rebuild", "crawler/rendered", "crawler/request",
		"crawler/rescope", "crawler/trapped", "crawler/whatif", "admin/commit", "admin/seedlist",
	},
	8: {
		"archive/excerpt", "archive/verify", "sim/prime", "sim/table", "crawler", "crawler/attempt",
		"admin/audit", "admin/labels",
	},
	9: {
		"admin/api", "daemon/provenance",
	},
	10: {
		"admin/access", "admin/alarm", "admin/between", "admin/captures", "admin/days", "admin/feed",
		"admin/fleet", "admin/headers", "admin/names", "admin/noise", "admin/recent", "admin/replay",
		"admin/series", "admin/traplist", "admin/whynot", "daemon/rendering",
	},
	11: {
		"admin/collection", "admin/compare", "admin/mail", "admin/metrics", "admin/outbox", "admin/survey",
		"daemon/keypair", "daemon/node", "daemon/pushed", "daemon/socket",
	},
	12: {
		"admin/shards", "admin/versions", "daemon/mailer",
	},
	13: {
		"admin/edit", "admin/ignore", "admin/once", "admin/pack", "admin/record", "daemon/notices",
	},
	14: {
		"admin", "daemon/offload",
	},
	15: {
		"daemon",
	},
	16: {
		"daemon/bulk", "cmd/arcrawl/clusterdemo", "cmd/arcrawl/nodes", "cmd/arcrawl/terminal",
	},
	17: {
		"cmd/arcrawl",
	},
}

// basics are the packages of internal/ that every room may use. They know no room.
var basics = []string{
	"internal/atomicfile", "internal/bloom", "internal/human", "internal/mediatype", "internal/panics",
	"internal/pattern", "internal/textfile",
}

// floorsOnlyDown also finds rooms that have been given no floor.
func floorsOnlyDown(all tree) []breach {
	var found []breach
	for _, f := range all.files {
		if f.test || matches(outside, f.room) && !slices.Contains(basics, f.room) {
			continue
		}
		floor, ok := floorOf(f.room)
		if !ok {
			found = append(found, all.at(f.Name, "the folder %s is no room of the house: give it a floor in floors_test.go", f.room))
			continue
		}
		for _, im := range f.imports() {
			dep, ours := strings.CutPrefix(im.path, module+"/")
			below, known := floorOf(dep)
			if ours && known && below >= floor {
				found = append(found, all.at(im.spec, "%s (floor %d) imports %s (floor %d)", f.room, floor, dep, below))
			}
		}
	}
	return found
}

// floorOf returns the floor of a room, or of a folder inside one.
func floorOf(room string) (floor int, ok bool) {
	for ; room != "." && room != "/"; room = path.Dir(room) {
		floor = slices.IndexFunc(floors, func(rooms []string) bool { return slices.Contains(rooms, room) })
		if floor >= 0 {
			return floor, true
		}
	}
	return 0, false
}
