package uri_test

import "testing"

func TestHasBadPort(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"http://a.example/": false, "https://a.example/": false, "http://a.example:8080/": false, "http://a.example:443/": false,
		"http://a.example:25/": true, "https://a.example:6000/": true, "http://a.example:10080/": true, "http://[2001:db8::1]:22/": true,
		"http://192.0.2.1:6667/x": true, "http://a.example:225/": false,
	} {
		if got := mustParse(t, text).HasBadPort(); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
