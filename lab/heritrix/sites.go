package heritrix

import "strconv"

// convertSites converts the sites of CrawlRSS into the files of the hosts of their feeds.
func (j *job) convertSites(top *element) {
	for _, bean := range top.children {
		if bean.class() == "RssSite" {
			j.site(bean)
		}
	}
}

func (j *job) site(bean *element) {
	bean.all(func(e *element) {
		if e.class() != "RssFeed" {
			return
		}
		address := e.property("uri")
		if address == nil {
			j.note(e.place, "this RssFeed has no uri")
			return
		}
		host, ok := hostOf(address.value())
		if !ok {
			j.note(address.place, "%s is not a feed: want http:// or https:// and a host", address.value())
			return
		}
		f := j.host(host)
		j.converted++
		f.add("feeds.uris", strconv.Quote(address.value()))
		if wait := bean.property("minWaitInterval"); wait != nil {
			j.converted++
			f.set("feeds.min_wait", strconv.Quote(wait.value()))
		}
		if pages := e.property("impliedPages"); pages != nil {
			j.implied(f, address.value(), pages)
		}
	})
}

// implied converts the pages that are due whenever a feed has a new entry.
func (j *job) implied(f *file, feed string, pages *element) {
	list := ""
	for _, p := range pages.values() {
		if _, ok := hostOf(p.value); !ok {
			j.note(p.place, "%s is not a page: want http:// or https:// and a host", p.value)
			continue
		}
		if list != "" {
			list += ", "
		}
		list += strconv.Quote(p.value)
	}
	if list != "" {
		j.converted++
		f.add("feeds.implied_by", "{ feed = "+strconv.Quote(feed)+", pages = ["+list+"] }")
	}
}
