package captures

// Comparison shows what differs between two versions. The types are answers of the API, and are named as there.
type Comparison struct {
	What string `json:"what"` // "text", "source", "headers" or "picture"

	Rows    []CompareRow `json:"rows"`
	Rules   []string     `json:"rules,omitempty"`   // scrubbing rules that hide parts of these versions
	Changed int          `json:"changed"`           // rows that differ
	Hidden  int          `json:"hidden"`            // parts that rules hide
	Problem string       `json:"problem,omitempty"` // why there are no rows
	Notes   []string     `json:"notes,omitempty"`   // what was left out
}

// CompareRow is a line in both versions, or in one of them, or a number of unchanged lines that are not shown.
type CompareRow struct {
	Kind   string       `json:"kind"` // "same", "changed", "removed", "added" or "folded"
	Folded int          `json:"folded,omitempty"`
	Left   *CompareLine `json:"left,omitempty"`
	Right  *CompareLine `json:"right,omitempty"`
}

// CompareLine is a line of a version.
type CompareLine struct {
	Number int           `json:"number"` // in the source
	Parts  []ComparePart `json:"parts"`
}

// ComparePart is a part of a line.
type ComparePart struct {
	Text    string `json:"text"`
	Differs bool   `json:"differs,omitempty"`
	Rule    int    `json:"rule,omitempty"` // number of the scrubbing rule that hides it, from 1
}
