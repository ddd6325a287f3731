package cli

import (
	"errors"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

func TestTheLevelsOfTheLogArePriorities(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	log := zerolog.New(journalWriter{&out})
	log.Debug().Msg("a")
	log.Info().Str("file", "x y").Msg("b")
	log.Warn().Msg("c")
	log.Error().Err(errors.New("one\ntwo")).Msg("d")
	log.Log().Msg("e")
	want := "<7>a\n<6>b file=\"x y\"\n<4>c\n<3>d error=\"one\\ntwo\"\n<6>e\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
