// Package alarm turns troubles of a crawl into alarms. Alarms are raised and cleared with hysteresis. The package
// also decides when a host or seed has been silent for improbably long.
//
// It reports them to webhooks ([Post]) and by e-mail (SMTP, RFC 5321): [AlarmMail] and [DigestMail] write what a
// message says, each for one recipient, because somebody who receives only hosts with a label is not told of others.
// [ComposeMail] makes its text, [SendMail] delivers it to the configured server.
package alarm
