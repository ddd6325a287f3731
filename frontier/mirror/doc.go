// Package mirror says which rows of a store have changed, so that a copy of the store elsewhere can follow it.
//
// A [Mirror] is notified of each change by the store itself, whichever package made it. It keeps only the keys. The
// values are read when they are shipped, in one view of the store. So a shipment is a whole state of the store: the
// copy has all of a transaction or nothing of it.
//
// A change costs the visit nothing but its place in a channel. Without a mirror the store notifies nobody.
package mirror
