package fleet

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/daemon"
)

const (
	// askNode is the maximum duration of a request to another node. It is shorter than what clients wait for an answer.
	askNode = 90 * time.Second
	// fetchFile is the same for a package, as long as this node may take to send it.
	fetchFile = 5 * time.Minute
)

// Wing returns what lets each node of a crawl answer for all nodes.
func Wing() daemon.Wing { return daemon.Wing{Name: "fleet", Serve: serve} }

// serve returns what answers requests to the API of this node, for all nodes. plain answers for this node alone. If
// cluster.listen is set, it also answers the requests of other nodes, with plain alone.
func serve(
	d *daemon.Daemon, plain func(access.Options) http.Handler,
) (func(access.Options) http.Handler, error) {
	nodes, is := d.Owner().(Nodes)
	if !is {
		return plain, nil
	}
	s := &switchboard{nodes: nodes, plain: plain}
	s.send = func(*http.Request, string) (*http.Response, error) {
		return nil, errors.New("cluster.listen is not set on this node: set it on all nodes, or ask that node itself")
	}
	listen := d.Live().Current().Cluster.Listen
	if listen == "" {
		return s.Handler, nil
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, daemon.FolderError{Err: fmt.Errorf("cluster.listen: %w", err)}
	}
	id, err := newIdentity()
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	s.send = sender(nodes, id)
	known := func(print []byte) bool { return nodes.Bearer(print) != "" }
	d.Serve(id.Listen(l, known), s.ForNodes(access.Options{
		Caller: introduced(func(r *http.Request) bool { return known(printOf(r.TLS)) }),
	}))
	nodes.Announce(l.Addr().String(), id.print)
	log := d.Log()
	log.Info().Str("at", l.Addr().String()).Msg("answering the other nodes of the cluster")
	return s.Handler, nil
}

// sender returns what sends requests to other nodes.
func sender(nodes Nodes, id *nodeIdentity) func(r *http.Request, node string) (*http.Response, error) {
	client, patient := id.Client(askNode), id.Client(fetchFile)
	return func(r *http.Request, node string) (*http.Response, error) {
		address, print := nodes.Door(node)
		if address == "" {
			return nil, errors.New("cluster.listen is not set there, or the node has just started")
		}
		to := client
		if strings.HasPrefix(r.URL.Path, api.Base+"/packages/") {
			to = patient
		}
		got, err := to.Do(toNode(r, address, print))
		var why *url.Error
		if errors.As(err, &why) {
			err = why.Err
		}
		return got, err
	}
}

// byNode is the way of a request that another node passes on.
const byNode = "node"

// Headers in which a node names the caller of a request that it passes on.
const (
	callerHeader = "Arcrawl-Caller"
	roleHeader   = "Arcrawl-Role"
)

// introduce names the caller in the header of a request to another node.
func introduce(c access.Caller, h http.Header) {
	h.Set(callerHeader, url.QueryEscape(c.Name))
	h.Set(roleHeader, c.Role.String())
}

// introduced returns the caller of a request that another node passes on, whom that node has checked. isNode reports
// whether a node sent the request.
func introduced(isNode func(*http.Request) bool) func(*http.Request) (c access.Caller, status int, why string) {
	return func(r *http.Request) (c access.Caller, status int, why string) {
		if !isNode(r) {
			return c, http.StatusForbidden, "the certificate of this connection is not the one of a node of the cluster"
		}
		name, err := url.QueryUnescape(r.Header.Get(callerHeader))
		if err != nil {
			return c, http.StatusBadRequest, "the node does not name the caller: " + err.Error()
		}
		role, err := access.ParseRole(r.Header.Get(roleHeader))
		if err != nil {
			return c, http.StatusForbidden, "the node names no role of the caller: " + err.Error()
		}
		return access.Caller{Name: name, Way: byNode, Role: role}, 0, ""
	}
}
