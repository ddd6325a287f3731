// Package messages is the wing that reports alarms to a webhook and by e-mail (SMTP, RFC 5321), and sends digests and
// the changes of pages.
//
// An office takes the changes of alarms. The webhook receives each, and the recipients of
// mail those that concern them, because somebody who receives only hosts with a label is not told of others. What was
// not delivered waits in a file, so a restart loses none.
//
// Subscribers get the changes of pages that the daemon finds. The changes are in files of another wing;
// a file of this one has up to which change each subscriber was sent.
package messages
