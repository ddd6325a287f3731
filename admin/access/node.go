package access

import (
	"net/http"
	"net/url"
)

// ByNode is the way of a request that another node of the cluster passes on.
const ByNode = "node"

// Headers in which a node names the caller of a request that it passes on.
const (
	callerHeader = "Arcrawl-Caller"
	roleHeader   = "Arcrawl-Role"
)

// Introduce names the caller in the header of a request to another node.
func (c Caller) Introduce(h http.Header) {
	h.Set(callerHeader, url.QueryEscape(c.Name))
	h.Set(roleHeader, c.Role.String())
}

// serveNode serves a request that another node passes on, for the caller whom that node has checked.
func (o Options) serveNode(to http.ResponseWriter, from *http.Request, serve func(Caller)) {
	if !o.Node(from) {
		deny(to, http.StatusForbidden, "the certificate of this connection is not the one of a node of the cluster")
		return
	}
	name, err := url.QueryUnescape(from.Header.Get(callerHeader))
	if err != nil {
		deny(to, http.StatusBadRequest, "the node does not name the caller: "+err.Error())
		return
	}
	role, err := ParseRole(from.Header.Get(roleHeader))
	if err != nil {
		deny(to, http.StatusForbidden, "the node names no role of the caller: "+err.Error())
		return
	}
	serve(Caller{Name: name, Way: ByNode, Role: role})
}
