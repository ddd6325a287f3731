package whatif

import (
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/uri"
)

// Settings are the settings in force for a visit, and the refinements that could apply to it.
type Settings struct {
	Host        uri.Host            `json:"host"`
	URI         string              `json:"uri,omitempty"`
	At          time.Time           `json:"at"`
	About       config.Site         `json:"about"`
	Refinements []config.Refinement `json:"refinements"`
	Settings    []config.Setting    `json:"settings"`
}

// SettingsOf returns the settings for a visit to a host, or to a URI of the host if about names one. With onlySet it
// leaves out the defaults.
func SettingsOf(c *config.Config, h uri.Host, about config.About, onlySet bool) Settings {
	s := Settings{
		Host: h, URI: about.URI.String(), At: about.Now.UTC().Truncate(time.Second), Refinements: c.Refinements(h, about),
		About: c.Site(h),
	}
	all := c.EffectiveHost(h, about.Now)
	if !about.URI.IsZero() {
		all = c.Effective(about)
	}
	for _, setting := range all {
		if !onlySet || setting.File != "" {
			s.Settings = append(s.Settings, setting)
		}
	}
	return s
}
