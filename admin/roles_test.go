package admin_test

import (
	"testing"
	"testing/synctest"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/internal/routetest"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// TestEveryRequestNeedsItsRole sends each request of the API with each role, and with none.
func TestEveryRequestNeedsItsRole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := admin.NewWorld(t, dir, testcrawl.EveryHour)
		defer w.Close()
		routetest.Roles(t, w.Window.Handler, admin.Routes(), "/metrics", "/", "/openapi.json")
	})
}

// TestRoutesWithoutArgumentsSucceed calls the GET routes that need no argument.
func TestRoutesWithoutArgumentsSucceed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := admin.NewWorld(t, dir, testcrawl.EveryHour)
		defer w.Close()
		routetest.Questions(t, w.Window.Handler(access.Options{}), admin.Routes())
	})
}

// TestWrongParametersAreTheFaultOfTheCaller sends wrong values of each parameter.
func TestWrongParametersAreTheFaultOfTheCaller(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := admin.NewWorld(t, dir, testcrawl.EveryHour)
		defer w.Close()
		routetest.WrongParameters(t, w.Window.Handler(access.Options{}), admin.Routes())
	})
}
