package fleet

import (
	"reflect"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/admin/api"
)

// TestEachFieldSaysHowItIsJoined makes sure that no field of an answer shows the value of one node for the whole crawl
// by accident. A field that was added needs the tag "join"; see [joining].
func TestEachFieldSaysHowItIsJoined(t *testing.T) {
	t.Parallel()
	for request, how := range joins() {
		if how.check == nil { // no fields are joined
			continue
		}
		if err := how.check(); err != nil {
			t.Errorf("%s: %v", request, err)
		}
	}
	if err := declared(reflect.TypeFor[api.DedupRow]()); err != nil {
		t.Error(err)
	}
	for _, wrong := range []reflect.Type{
		reflect.TypeFor[struct{ New int }](),
		reflect.TypeFor[struct {
			Known int      `join:"sum"`
			Parts struct { // whose field says nothing
				New int
			} `join:"parts"`
		}](),
		reflect.TypeFor[struct {
			New int `join:"all of them"`
		}](),
	} {
		if err := declared(wrong); err == nil || !strings.Contains(err.Error(), ".New has the tag") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	if _, err := join(&joining{}, []struct{ New int }{{1}, {2}}, []string{"a", "b"}); err == nil || !strings.Contains(err.Error(), "New") {
		t.Errorf("joined a field that says nothing: %v", err)
	}
}

// TestFieldsAreJoinedByTheirTags joins the answers of three nodes.
func TestFieldsAreJoinedByTheirTags(t *testing.T) {
	t.Parallel()
	type row struct {
		Name string `join:"named"`
	}
	type part struct {
		Sum int `join:"sum"`
	}
	type answer struct {
		Sum     int     `join:"sum"`
		Float   float64 `join:"sum"`
		Unknown int     `join:"sum"`
		Max     int     `join:"max"`
		Min     int     `join:"min"`
		Or      bool    `join:"or"`
		And     bool    `join:"and"`
		First   string  `join:"first"`
		Some    string  `join:"some"`
		Texts   string  `join:"texts"`
		Named   string  `join:"named"`
		List    []row   `join:"list"`
		None    []row   `join:"list"`
		Parts   *part   `join:"parts"`
		Nothing *part   `join:"parts"`
	}
	got, err := join(&joining{}, []answer{
		{1, 1, -1, 1, 3, false, true, "x", "", "one", "full", []row{{"/1"}}, nil, nil, nil},
		{2, .5, 3, 7, 2, true, true, "y", "s", "two", "", []row{{"/1"}}, nil, &part{2}, nil},
		{4, .5, 3, 5, 9, false, false, "z", "t", "one", "late", []row{{"/2"}}, nil, &part{3}, nil},
	}, []string{"a", "b", "c"})
	want := answer{
		7, 2, -1, 7, 2, true, false, "x", "s", "one, two", "node a: full; node c: late",
		[]row{{"node a: /1"}, {"node b: /1"}, {"node c: /2"}},
		nil, &part{5}, nil,
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("joined %+v, %v; want %+v", got, err, want)
	}
}
