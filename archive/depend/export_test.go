package depend

// SpillAt sets how many bytes of the captures of a file wait in memory.
func (g *Growing) SpillAt(n int) { g.spillAt = n }
