// Package soak runs the real daemon for days of virtual time and checks that nothing grows.
//
// The daemon crawls an invented web with short waits, so that a day has the visits of weeks. Its clock is the one of
// testing/synctest. Each hour the test measures live heap, goroutines, descriptors and the size of the store, and how
// many bytes crawl.log and the daemon's own log have for each visit. It then estimates the slope of each line with a
// confidence interval that allows for neighboring samples that resemble each other.
//
// "make soak" runs it for a month. Without the variable ARCRAWL_SOAK it runs for two hours, to check itself.
//
// "make year" crawls another web, whose hosts are born, move, die and turn hostile, with a daemon that is stopped,
// killed and left without disk space, and whose host files are edited. It compares what the web showed with the
// archive, and months 4 to 6 with months 10 to 12. Real connections, the sockets of the API and the watch on files have
// no part: they wait for the kernel, which has no virtual time. The daemon has no wings.
package soak
