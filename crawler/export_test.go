package crawler

// OnStep lets a test die at a step of the walk.
func (c *Crawler) OnStep(f func(step string)) { c.step = f }
