package api

// Record shows the records of one version as the WARC file has them. Characters that could mislead a reader are
// replaced by their code points.
type Record struct {
	URI     string       `json:"uri"`
	Version Version      `json:"version"`
	Parts   []RecordPart `json:"parts"` // the record of the version, then its request and its metadata
	// Of a revisit: the record with the payload, and what belongs to it.
	Original []RecordPart `json:"original,omitempty"`
	Notes    []string     `json:"notes,omitempty"`
	Problem  string       `json:"problem,omitempty"` // why there are no parts
}

// RecordPart is one record of a WARC file.
type RecordPart struct {
	Type   string `json:"type"` // "response", "request", "revisit", "metadata" …
	File   string `json:"file"`
	Offset int64  `json:"offset"`
	Header string `json:"header"`              // of WARC
	Head   string `json:"head,omitempty"`      // of HTTP, or the whole text of a metadata record
	Size   int64  `json:"size"`                // bytes of the block, with the head
	Cut    bool   `json:"truncated,omitempty"` // header or head are longer than shown
}
