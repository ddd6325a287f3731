// Package alarm turns troubles of a crawl into alarms that are raised and cleared with hysteresis, and decides when a
// host or seed has been silent for improbably long.
package alarm
