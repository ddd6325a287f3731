package optional

import "github.com/rs/zerolog"

// ReportDamage makes stores log each row that is damaged, and replace it, so that it is learned again.
func ReportDamage(log zerolog.Logger, stores ...interface{ OnDamage(report func(error)) }) {
	for _, s := range stores {
		s.OnDamage(func(err error) {
			log.Error().Err(err).Msg("a row about one host is damaged: it is replaced, and learned again")
		})
	}
}
