package heritrix

// convertSites puts the sites of CrawlRSS into the files of their hosts.
func (j *job) convertSites(top *element) {
	for _, bean := range top.children {
		if bean.class() == "RssSite" {
			j.leave(bean.line, "site")
		}
	}
}
