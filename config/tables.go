package config

// Table is one table of the configuration files, which [Keys] names before the dot.
type Table struct {
	Name string // "politeness"
	List bool   // it may stand several times: [[wait]]
	Doc  string // what its keys have in common
}

// Tables is every table there is, in the order of the reference page.
func Tables() []Table {
	out := make([]Table, len(tables))
	for i, t := range tables {
		out[i] = Table{Name: t.name, List: t.list, Doc: t.doc}
	}
	return out
}
