package main

// linuxFaultKinds returns the kinds of faults that need Linux.
func linuxFaultKinds() []*faultKind {
	linked := func(run func(*trial, *killSite, int)) func(*trial, int) {
		return func(t *trial, times int) {
			site := startKillSite(t.T)
			site.rest = faultRest
			run(t, site, times)
		}
	}
	bulky := func(run func(*trial, *killSite, int)) func(*trial, int) {
		return func(t *trial, times int) {
			site := startBulkySite(t.T, 4)
			site.rest, t.mayEnd = faultRest, true
			run(t, site, times)
		}
	}
	return []*faultKind{
		{"opening", "killed while opening", 150, linked(killWhileOpening)},
		{"pauses", "paused for an hour", 30, linked(pause)},
		{"clocks", "clock moved by 10 or 20 years", 12, linked(jumpTheClock)},
		{"uplink", "uplink cut during requests", 15, func(t *trial, times int) { cutTheUplink(t, faultRest, times) }},
		{"writes", "writes fail with EIO", 8, linked(failWrites)},
		{"syncs", "syncs fail with EIO", 12, linked(failSyncs)},
		{"full", "disk filled by the crawl", 4, bulky(fillTheDisk)},
		{"filled", "disk filled by others", 8, bulky(letOthersFillTheDisk)},
		{"quota", "quota used up", 4, bulky(useUpTheQuota)},
		{"disks", "disk that fails for good", 1, bulky(failTheDisk)},
	}
}
