package config

// Table is one table of the configuration files, which [Keys] names before the dot.
type Table struct {
	Name string // "politeness"
	List bool   // it may stand several times: [[wait]]
	Doc  string // what its keys have in common

	Refines   bool // it is [[when]]: beside its keys it has the tables that are Refinable
	Refinable bool // it may stand in a [[when]]
}

// Tables is every table there is, in the order of the reference page.
func Tables() []Table {
	out := make([]Table, len(tables))
	for i, t := range tables {
		out[i] = Table{Name: t.name, List: t.list, Doc: t.doc, Refines: t.name == whenTable, Refinable: t.standsIn(inWhen)}
	}
	return out
}
