package house_test

// knownWingUses are the imports of wings that are still to go, each with the reason.
var knownWingUses = map[string]string{}

// knownImports are the packages that import more of ours than they may, and how many. The numbers only shrink.
var knownImports = map[string]int{}

// knownPortions are the packages that are still to become files of their users.
var knownPortions = []string{}
