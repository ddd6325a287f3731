package warcout

import "testing"

func TestLostFrom(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		r    Repair
		from int64
		lost bool
	}{
		{"nothing of a whole one", Repair{Kind: Whole, Before: 100, After: 100}, 0, false},
		{"what was cut off", Repair{Kind: Cut, Before: 100, After: 80}, 80, true},
		{"what is behind the end of a short one", Repair{Kind: Short, Before: 100, After: 60}, 60, true},
		{"all of one that was removed", Repair{Kind: Removed, Before: 100}, 0, true},
		{"what is behind the end of a sealed one that shrank", Repair{Kind: Differs, Before: 100, After: 60}, 60, true},
		{"nothing that is known of a sealed one that grew", Repair{Kind: Differs, Before: 100, After: 160}, 0, false},
		{"all of one that is absent", Repair{Kind: Absent, Before: 100}, 0, true},
		{"nothing because of the journal", Repair{Kind: DamagedJournal, Before: 3, After: 3}, 0, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if from, lost := row.r.LostFrom(); from != row.from || lost != row.lost {
				t.Errorf("LostFrom = %d, %v; want %d, %v", from, lost, row.from, row.lost)
			}
		})
	}
	if got := (Repair{File: "a.warc.gz.open"}).Name(); got != "a.warc.gz" {
		t.Errorf("Name = %s", got)
	}
}
