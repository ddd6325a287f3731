package crawler_test

import (
	"errors"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/crawler/whatif"
)

// TestAConfigurationThatIsNotAcceptedChangesNothing refuses a valid configuration, as the node of a cluster does. A
// plan and a staged configuration are refused too.
func TestAConfigurationThatIsNotAcceptedChangesNothing(t *testing.T) {
	story(t, onceADay, func(w *world) {
		parts, shut := w.open()
		defer shut()
		parts.Accept = func(c *config.Config) error {
			if c.ForHost("www.news.example", time.Now()).Politeness.Group == "" {
				return nil
			}
			return config.Faults{{Key: "politeness.group"}}
		}
		c := crawler.New(parts)
		w.reload(c)
		const grouped = "[politeness]\ngroup = \"g\"\n"
		w.host("www.news.example.toml", grouped)
		_, planned := c.Reload(true, time.Now())
		_, reloaded := c.Reload(false, time.Now())
		staged := whatif.Staged{Only: true, Hosts: map[string][]byte{"www.news.example.toml": []byte(grouped)}}
		_, looked := c.Plan(staged, time.Now())
		for _, err := range []error{planned, reloaded, looked} {
			if faults, ok := errors.AsType[config.Faults](err); !ok || faults[0].Key != "politeness.group" {
				t.Errorf("the configuration was refused with %v", err)
			}
		}
		if l := c.ConfigStatus(); len(l.Faults) != 1 || parts.Config.Current().ForHost("www.news.example", time.Now()).Politeness.Group != "" {
			t.Errorf("ConfigStatus = %+v, want the fault, and the configuration of before in force", l)
		}
	})
}
