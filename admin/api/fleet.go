package api

import "io"

// Fleet holds the states of several daemons.
type Fleet struct {
	Instances []Instance   `json:"instances"`          // in the order of their list
	Database  FleetStorage `json:"database,omitempty"` // what the database of a cluster says of its nodes
}

// Instance is the answer of one daemon.
type Instance struct {
	Name   string  `json:"name"` // in the list
	Where  string  `json:"where"`
	Error  string  `json:"error,omitempty"` // why there is no status
	Status *Status `json:"status"`          // null if the daemon did not answer
}

// FleetStorage shows the store that several daemons share.
type FleetStorage interface {
	Write(out io.Writer) error // for people
	Uncrawled() string         // says what no daemon crawls; "" = nothing
}
