package house_test

// basics are the packages of internal/ that every room may use. They know no room.
var basics = []string{
	"internal/fileio", "internal/human", "internal/panics",
}
