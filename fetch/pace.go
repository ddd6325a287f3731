package fetch

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"
)

// crowdedFactor is the factor of [Limits].MinRate while [Request].Crowded reports true.
const crowdedFactor = 100

// pace makes sure that a body is received fast enough. It divides the time of the body into periods. The deadline of
// the connection is the end of the present period, so a body that is received within one period costs nothing more
// than a body without a minimum rate.
//
// A read that fails at the end of a period loses no bytes, neither on a plain connection nor on TLS, and the next read
// continues.
type pace struct {
	ctx      context.Context
	conn     *conn
	crowded  func() bool
	minRate  int64
	period   time.Duration
	ends     time.Time // of the present period
	last     time.Time // end of all periods
	received int64     // in the present period
}

// begin begins the first period of a body.
func (p *pace) begin(ctx context.Context, k *conn, r Request, now time.Time) error {
	*p = pace{
		ctx: ctx, conn: k, crowded: r.Crowded, minRate: r.Limits.MinRate, period: r.Limits.Grace,
		last: now.Add(r.Limits.Body),
	}
	return p.next(now)
}

// next begins a period.
func (p *pace) next(now time.Time) error {
	p.ends, p.received = p.last, 0
	if p.minRate > 0 && now.Add(p.period).Before(p.last) {
		p.ends = now.Add(p.period)
	}
	return p.conn.limitBody(p.ctx, p.ends, p.last)
}

// read reads from the connection. At the end of a period it begins the next one if enough bytes have come.
func (p *pace) read(from io.Reader, b []byte) (int, error) {
	for {
		n, err := from.Read(b)
		p.received += int64(n)
		if n > 0 || err == nil || p.conn == nil || !isTimeout(err) || p.ctx.Err() != nil {
			return n, err
		}
		now := time.Now()
		if !now.Before(p.last) {
			return n, err
		}
		if err := p.check(now); err != nil {
			return n, err
		}
		if err := p.next(now); err != nil {
			return n, err
		}
	}
}

// check returns an error if too few bytes were received in the period that ends now. If this process itself was late,
// because the machine slept or the disk was busy, that is not the server's fault.
func (p *pace) check(now time.Time) error {
	if now.Sub(p.ends) > p.period/2 {
		return nil
	}
	rate := p.minRate
	if p.crowded != nil && p.crowded() {
		rate = min(rate, math.MaxInt64/crowdedFactor) * crowdedFactor
	}
	if float64(p.received) >= float64(rate)*p.period.Seconds() {
		return nil
	}
	return fmt.Errorf("%w: %d bytes in %s, and at least %d bytes a second are required", errTooSlow, p.received, p.period, rate)
}
