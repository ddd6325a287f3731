// Package alarm turns troubles of a crawl into alarms. Alarms are raised and cleared with hysteresis. The package
// also decides when a host or seed has been silent for improbably long.
package alarm
