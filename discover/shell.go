package discover

// minShown is the minimum number of bytes of text, without white space, of a page that has something to read. maxDoors
// is the maximum number of links and frames in the shell of an application.
const (
	minShown = 200
	maxDoors = 2
)

// shown counts what a page shows if no script runs, as far as it decides whether the page is a shell.
type shown struct {
	text    int  // bytes of text without white space; counted up to minShown
	doors   int  // links and frames
	scripts bool // there are scripts
	aside   bool // inside a noscript element, whose text only says that scripts are needed
}

// add counts a text between two tags.
func (s *shown) add(text []byte) {
	if s.text >= minShown || s.aside {
		return
	}
	for _, c := range text {
		if c > ' ' && c != '<' {
			s.text++
		}
	}
}

// door counts a link or a frame.
func (s *shown) door() {
	if !s.aside {
		s.doors++
	}
}

// isShell reports whether scripts make what a reader sees.
func (s *shown) isShell() bool { return s.scripts && s.text < minShown && s.doors <= maxDoors }
