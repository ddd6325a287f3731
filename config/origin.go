package config

import "fmt"

// Origin is where the value of a key was said that is in force for a visit, as file:line, or "default". The key is written as on
// the reference page, "scope.max_hops"; those of the stack of [[wait]] have no single origin.
func (c *Config) Origin(a About, key string) string {
	p := c.profile(a.URI.Host())
	for _, in := range p.sources(p.inForce(a), c.doc) {
		if path := pathIn(in.path, key); in.doc.has(path) {
			return fmt.Sprintf("%s:%d", in.doc.file, in.doc.line(path))
		}
	}
	return "default"
}
