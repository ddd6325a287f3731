package demosite

// section is a part of the paper with a page of its own.
type section struct {
	Name, Path string
	headlines  []string
}

// sections are in the order of the menu. Article n belongs to section n modulo 3.
var sections = []section{
	{Name: "World", Path: "/world/", headlines: []string{
		"{place} and {body} agree on shared {thing}",
		"Ministers meet in {place} over the price of {thing}",
		"Talks on {thing} enter hour {n}",
		"{place} reopens its border to {thing}",
		"{n} countries sign the treaty on {thing}",
		"Storm reaches {place}, {n} villages without power",
	}},
	{Name: "City", Path: "/city/", headlines: []string{
		"Council votes for {n} new {thing} in {place}",
		"{body} to close the bridge at {place} until {day}",
		"{person} opens the library at {place}",
		"Residents of {place} ask for fewer {thing}",
		"Tram line {n} will stop at {place} from {day}",
		"Lost {thing} found in the cellar of the town hall",
	}},
	{Name: "Sport", Path: "/sport/", headlines: []string{
		"{team} beat {rival} after {n} minutes of rain",
		"{person} leaves {team} for {rival}",
		"{team} to play on {day} without {person}",
		"Record crowd of {n} hundred sees {team} draw",
		"{rival} protest against the pitch at {place}",
		"{person} rows from {place} in {n} hours",
	}},
}

// disputes are the headlines of disputed articles: as published, and softened.
var disputes = [][2]string{
	{"{person} lied about the {thing} of {place}", "{person} was mistaken about the {thing} of {place}"},
	{"{body} hid the loss of {n} {thing}", "{body} reported the loss of {n} {thing} late"},
	{"{person} to blame for the flood in {place}", "{person} questioned about the flood in {place}"},
}

// happenings are the entries of the liveblog.
var happenings = []string{
	"{person}, reporting from {place}: the water is {n} centimetres above the quay, and {body} has sent for more {thing}.",
	"{body} closes the road to {place}. {n} people have been brought to the town hall; nobody is hurt.",
	"The lights are out in {place}. There will be light in {n} streets again before {day}, says {body}.",
	"{person} of {body}: “We have seen worse, but not with this many {thing} in the water.”",
	"{n} {thing} have broken loose at {place}. Readers are asked to keep away from the harbour wall.",
	"A ferry with {n} passengers waits outside {place}. {person} says they have tea, and cards.",
}

var summaries = []string{
	"{body} confirmed on {day} what {person} had said all along.",
	"People in {place} had waited {n} months for the news.",
	"{person} called it a good day for {place}, and a long one.",
	"Critics point to the {thing}, of which nobody knows the number.",
	"The decision is expected by {day}; {body} would not comment.",
}

var paragraphs = []string{
	"“We counted the {thing} twice,” said {person}, who has worked for {body} for {n} years. “Then we counted them again, because nobody in {place} would believe us.”",
	"By {day} the news had reached {place}, where {n} people gathered outside the offices of {body}. Most of them had come about something else.",
	"According to {body}, the {thing} will cost {n} thousand crowns more than planned. {person} said the sum was large but not unusual for {place}.",
	"It is not the first time. {n} years ago {place} lost its {thing} in a single night, and {body} has kept a list ever since.",
	"{person} was more careful. “If you had asked me on {day}, I would have said no,” she told this paper. “But I have seen the {thing} now.”",
	"The road between {place} and the harbour stays closed until {day}. Travellers are asked to leave {n} minutes earlier and to take nothing but their {thing}.",
	"Neither {body} nor {person} wished to say how many {thing} there had been. A report of {n} pages is to be read aloud on {day}.",
}

var corrections = []string{
	"the number of {thing} was {n}, and not twice that as we had it at first.",
	"{person} is not the chair of {body} and has asked us to say so.",
	"the meeting takes place on {day}, and not in {place}.",
}

var briefs = []string{
	"{body} meets on {day}.",
	"{n} {thing} counted at {place}.",
	"{person} back in {place}.",
	"No news of the {thing}.",
	"{team} against {rival}: kick-off on {day}.",
}

// names holds the words for the names in the patterns above.
var names = map[string][]string{
	"place": {
		"Harrowmere", "Old Quay", "Saltings", "Brackenford", "Upper Lyne", "Windmill Hill", "the Tannery",
		"St Osric", "Ferrymans Row", "Great Orrin",
	},
	"body": {
		"the harbour board", "the town council", "the weather office", "the tram company", "the water guild",
		"the school board", "the lighthouse service",
	},
	"team":   {"Harrowmere Rovers", "the Quay Wanderers", "Saltings Ladies", "the Ferrymen"},
	"rival":  {"Brackenford United", "Lyne Athletic", "Great Orrin Town", "the Tanners"},
	"day":    {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"},
	"person": people,
	"thing":  things,
}

var people = []string{
	"Ada Quill", "Bertram Loy", "Corin Vale", "Dorit Anselm", "Edda Marsh", "Fabian Oke", "Greta Holm",
	"Hamza Reed", "Ines Carrow", "Jory Penn", "Katya Brandt", "Lewin Stroud",
}

var things = []string{
	"bicycles", "benches", "street lamps", "herring", "umbrellas", "church bells", "ferries", "plane trees",
	"library books", "chimneys",
}
