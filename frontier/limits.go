package frontier

import (
	"encoding/binary"
	"fmt"

	"github.com/arcrawl/arcrawl/uri"
)

// full reports whether a URI that is not known finds its host or its folder full. If not, it counts as one of its folder.
func (c *change) full(d *draft, u uri.URI) (bool, error) {
	limits := c.f.limitsOf(d.h.name)
	if d.uris >= limits.URIs {
		return true, nil
	}
	if limits.PerDirectory <= 0 && !d.counted && d.h.folders == nil {
		return false, nil
	}
	k := directoryKey(d.h.id, u)
	n, err := c.count(k)
	if err != nil || limits.PerDirectory > 0 && n >= limits.PerDirectory {
		return true, err
	}
	d.h.cameOrWent(u, 1)
	return false, c.txn.Set(k, binary.BigEndian.AppendUint64(nil, uint64(n+1)))
}

// empty takes a forgotten URI off the count of its folder, if it was ever counted.
func (c *change) empty(d *draft, u uri.URI) error {
	d.h.cameOrWent(u, -1)
	k := directoryKey(d.h.id, u)
	n, err := c.count(k)
	switch {
	case err != nil || n == 0:
		return err
	case n == 1:
		return c.txn.Delete(k)
	}
	return c.txn.Set(k, binary.BigEndian.AppendUint64(nil, uint64(n-1)))
}

// count reads a counter, zero where there is none.
func (c *change) count(k []byte) (int64, error) {
	v, err := readBytes(c.txn, string(k))
	switch {
	case err != nil || v == nil:
		return 0, err
	case len(v) != 8:
		return 0, damaged(k, fmt.Errorf("a counter of %d bytes, want 8", len(v)))
	}
	return int64(binary.BigEndian.Uint64(v)), nil
}

// directoryKey is where the URIs of u's folder are counted.
func directoryKey(host uint32, u uri.URI) []byte { return asideKey(asideDirectory, host, folderOf(u)) }

// Fill says how full a host and one of its folders are. The limits are those in force.
type Fill struct {
	URIs, InDirectory int64
	Limits
}

// Fill tells how much room there is for one more URI beside u.
func (f *Frontier) Fill(u uri.URI) (Fill, error) {
	id, err := f.idOf(u)
	if err != nil || u.IsZero() {
		return Fill{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	fill := Fill{Limits: f.limitsOf(u.Host())}
	if id == 0 {
		return fill, nil
	}
	fill.URIs = f.hosts[u.Host()].uris
	c := f.begin()
	defer c.discard()
	fill.InDirectory, err = c.count(directoryKey(id, u))
	return fill, err
}

// limitsOf are the limits of a host, with those of the whole store where it has none of its own.
func (f *Frontier) limitsOf(h uri.Host) Limits {
	limits := f.limits(h)
	if limits.URIs <= 0 {
		limits.URIs = f.maxURIs
	}
	return limits
}
