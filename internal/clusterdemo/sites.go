package clusterdemo

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/internal/demosite"
	"github.com/arcrawl/arcrawl/uri"
)

// rest is how long a site rests after a visit.
const rest = 2 * time.Second

// sites are the sites of the demo. They know which node asked them.
type sites struct {
	list    []site
	servers []*http.Server
	serving sync.WaitGroup

	mu       sync.Mutex         // guards the fields below
	asked    map[string]request // the last one, by host
	changed  int                // how often a host was asked by another node than before
	shortest time.Duration      // between the last request of a node and the first of the next one
}

type site struct {
	host string // with the port
	part int16
}

type request struct {
	node string
	at   time.Time
}

// openSites serves n sites, each on an address of loopback. partOf returns the part that a host belongs to.
func openSites(n int, partOf func(uri.Host) int16) (*sites, error) {
	s := &sites{asked: map[string]request{}}
	for i := 2; i < 2+n; i++ {
		name := fmt.Sprintf("127.0.0.%d", i)
		l, err := net.Listen("tcp", name+":0")
		if err != nil {
			s.close()
			return nil, fmt.Errorf("serve a site of the demo at %s: %w; the demo of a cluster needs all addresses of 127.0.0.0/8, "+
				"which Linux has", name, err)
		}
		s.list = append(s.list, site{l.Addr().String(), partOf(uri.Host(name))})
		// The papers have different ages, so that not all of them have the same articles.
		pages := demosite.New(time.Now().Add(-time.Duration(i) * time.Minute)).Handler(time.Now)
		server := &http.Server{Handler: s.note(pages), ReadHeaderTimeout: 10 * time.Second}
		s.servers = append(s.servers, server)
		s.serving.Go(func() { _ = server.Serve(l) })
	}
	return s, nil
}

// note remembers which node asks a site.
func (s *sites) note(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, after, ok := strings.Cut(r.UserAgent(), nodeMark); ok && after != "" {
			now := request{after[:1], time.Now()}
			s.mu.Lock()
			before, known := s.asked[r.Host]
			if known && before.node != now.node {
				gap := now.at.Sub(before.at)
				if s.changed++; s.changed == 1 || gap < s.shortest {
					s.shortest = gap
				}
			}
			s.asked[r.Host] = now
			s.mu.Unlock()
		}
		next.ServeHTTP(w, r)
	})
}

// changes returns how often a site was asked by another node than before, and the shortest time between the two.
func (s *sites) changes() (n int, shortest time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed, s.shortest
}

// close ends all sites.
func (s *sites) close() {
	for _, server := range s.servers {
		_ = server.Close()
	}
	s.serving.Wait()
}
