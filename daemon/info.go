package daemon

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/warcout"
)

// provenanceInfo returns the fields of the warcinfo record of each WARC file: who made it, with which software and
// settings.
// sum is the digest of the settings.
func provenanceInfo(c *config.Config, version, host, sum string) []warcout.Field {
	names := c.NamesNotation()
	fields := []warcout.Field{
		{Name: "software", Value: "arcrawl/" + version + " (https://github.com/arcrawl/arcrawl)"},
		{Name: "format", Value: "WARC File Format 1.1"},
		{Name: "conformsTo", Value: "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"},
		{Name: "operator", Value: c.Operator.Name + " <" + c.Operator.Contact + ">"},
		{Name: "hostname", Value: host},
		{Name: "http-header-user-agent", Value: c.UserAgent(version)},
		{Name: "robots", Value: "obey (RFC 9309), except where a metadata record has robotsPermission"},
		{Name: "canonicalization", Value: "whatwg; without fragment and user information"},
		{Name: "nameRules", Value: joinNameRules(names)},
		{Name: "nameRulesDigest", Value: fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(strings.Join(names, "\n"))))},
		{Name: "configDigest", Value: sum},
		{Name: "description", Value: "WARC-Payload-Digest is of the payload with transfer encoding removed and content encoding kept"},
	}
	if c.Collection != "" {
		fields = append(fields, warcout.Field{Name: "isPartOf", Value: c.Collection})
	}
	return fields
}

// maxNameRules is the maximum length, in bytes, of the name rules in a warcinfo record. Their digest covers all rules.
const maxNameRules = 8 << 10

// joinNameRules writes on one line the rules by which several URIs have one name: first the rules of all hosts, then
// the rules of single hosts, as far as they fit into maxNameRules.
func joinNameRules(lines []string) string {
	all := strings.Join(lines, "; ")
	if len(all) <= maxNameRules {
		return all
	}
	size, n := len(lines[0]), 1
	for ; size+2+len(lines[n]) <= maxNameRules; n++ {
		size += 2 + len(lines[n])
	}
	return fmt.Sprintf("%s; and the rules of %d more hosts", strings.Join(lines[:n], "; "), len(lines)-n)
}
