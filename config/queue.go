package config

import (
	"strings"

	"github.com/arcrawl/arcrawl/frontier"
)

// queueKeys say what goes first, and which hosts are one.
var queueKeys = []key{
	{
		Key: Key{Name: "crawl.order", Default: `"value"`, Scope: inMain, Doc: "Which URI goes first on a host that has more due than it can serve. " +
			"`value`: the one of which most versions would be lost. `overdue`: the one with the largest delay in proportion to its wait. `due`: the one that has been due for longest. Seeds, feeds and first visits have their shares with each but the last."},
		reader: choice(func(d *draft) *frontier.Order { return &d.config.Crawl.Order }, frontier.ByValue, frontier.ByOverdue, frontier.ByDue),
	},
	{
		Key:    Key{Name: "politeness.group", Default: `""`, Scope: inBoth, Doc: "Hosts with the same name here are served by one machine: they have together as many visits at once, and as long rests, as one of them alone. Empty: a host by itself."},
		reader: textOrNothing(groupName, func(d *draft) *string { return &d.settings.Politeness.Group }),
	},
}

// maxGroupName bounds the name of a group.
const maxGroupName = 100

func groupName(s string) (problem, remedy string) {
	if len(s) > maxGroupName || strings.ContainsAny(s, "\r\n\t") {
		return "is no name of a group", `write a short name, such as "shop platform"`
	}
	return "", ""
}
