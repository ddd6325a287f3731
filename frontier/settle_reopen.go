package frontier

import (
	"errors"

	"github.com/dgraph-io/badger/v4"
)

// reopenBatchSize is how many forbidden URIs are reopened in one transaction, if they fit.
const reopenBatchSize = 50

// reopenBatches reopens the forbidden URIs of the settled URI's origin, except the last batch, which it returns. That
// one belongs to the transaction of the settlement.
func (f *Frontier) reopenBatches(h *host, o Settlement) ([]fingerprint, error) {
	var from, self fingerprint = fingerprint{}, newFingerprint(o.Record.URI.String())
	for {
		fps, more, err := f.forbidden(h.id, o.Record.URI.Scheme(), from, self)
		if err != nil || !more {
			return fps, err
		}
		if err := f.reopenBatch(h, o, fps); err != nil {
			return nil, err
		}
		from = fps[len(fps)-1] // no longer in the list
	}
}

func (f *Frontier) reopenBatch(h *host, o Settlement, fps []fingerprint) error {
	return inBatches(fps, reopenBatchSize, func(some []fingerprint) error {
		return f.update(func(c *change) error { return c.reopen(c.draft(h.name), o, some) })
	})
}

// forbidden returns a batch of the host's forbidden URIs of one scheme, without self. more is true if the batch is
// full.
func (f *Frontier) forbidden(
	host uint32, scheme string, from, self fingerprint,
) (fps []fingerprint, more bool, err error) {
	err = f.db.View(func(txn *badger.Txn) error {
		for k, err := range scan(txn, key(kindForbidden, host, nil), forbiddenKey(host, from), reopenBatchSize) {
			same := false
			if err == nil {
				err = k.item.Value(func(v []byte) error { same = string(v) == scheme; return nil })
			}
			if err != nil || len(fps) == reopenBatchSize {
				return err
			}
			if same && k.fp() != self {
				fps = append(fps, k.fp())
			}
		}
		return nil
	})
	return fps, len(fps) == reopenBatchSize, err
}

// reopen makes forbidden URIs due, and marks the claims of their origin, since its rules changed.
func (c *change) reopen(d *draft, o Settlement, fps []fingerprint) error {
	if !o.Reopen {
		return nil
	}
	for i := range d.slots {
		if s := &d.slots[i]; s.serial != 0 && s.scheme == o.Record.URI.Scheme() {
			s.reopened = true
		}
	}
	for _, fp := range fps {
		was, ok, err := uriRowAt(c.txn, d.h.id, fp)
		if err == nil && !ok {
			err = damaged(forbiddenKey(d.h.id, fp), errors.New("its URI is missing"))
		}
		if err != nil {
			return err
		}
		is := was
		is.Forbidden = false
		if due := dueMillis(o.Finished, o.Finished); is.Due == 0 || is.Due > due {
			is.Due = due
		}
		if err := c.putURI(d, fp, was, is); err != nil {
			return err
		}
	}
	return nil
}
