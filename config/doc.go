// Package config turns arcrawl.toml and the curators' per-host files into one immutable, valid value.
//
// # Life cycle
//
// [Load] reads the main file and every host file once and gives either a [Config] or [Faults], never both and never half
// of one. A Config is never changed afterwards; a reload is another Load, whose result takes the old one's place in
// [Live] only when it is whole (law 7). Rooms do not look settings up: for each visit the crawler takes the configuration
// in force once, asks [Config.For] once and hands the resolved [Settings] on by value (law 6).
//
// # Files
//
// The main file is TOML. Beside it stands a folder of host files, hosts.d unless [storage] hosts names another; the
// default folder may be absent, one that is named must be there. Every file in it whose name ends in ".toml" and does
// not begin with a dot is the file of one host: www.news.example.toml speaks for the host www.news.example, and
// news.example.toml for that host and all below it, with whatever port; only a public suffix (co.uk) is a host and nothing
// more. A host with a port (or with characters that a file name cannot hold) is named by the key
// host = "www.news.example:8080" before the first table; the file's own name is then free. Other names, such as editors'
// backups (x.toml~, .x.toml.swp, x.toml.tmp), are passed over.
//
// # Layers
//
// Settings are resolved key by key: the host's file, then those of the domains above it, then the main file, then the
// default that [Keys] shows. Over all of them stand the refinements, [[when]], whose criteria all hold for the visit: those
// of the main file first, then of the domains, then of the host, and in each file from top to bottom; of two that set a key
// the later one wins. A refinement that sets one of two bounds moves the other where the two would contradict each other.
//
// A refinement ends at its until, and all that a host file sets ends at the file's, except that its seeds stay seeds. Time is
// an argument: the same [Config] gives other settings when the time has come, without a reload.
//
// Two things are more than a key. The [[wait]] entries of a host file are put in front of the main file's stack; an entry takes the
// fields it does not set from the entry with the same mime pattern that it shadows, and where there is none from the
// defaults of the key table. A main file without [[wait]] has [evaluators.Default] as its stack, which is also what the
// main file's own entries shadow. And scope.prefixes, where scope.by is "prefix" and nobody sets them, are the folders
// of the host's seeds.
//
// # Faults
//
// Everything that is wrong in any file is reported at once, each fault with file, line, column, key, value, problem and
// remedy. A file with a syntax error has no other faults, for what follows an error cannot be read; the other files are
// still checked. What is odd but harmless (a seed that is listed twice) is a warning in [Config.Warnings]. What only the
// machine can know (a folder that cannot be written) is found by the rooms that use it.
//
// # Invariants
//
//   - Each duration, size and number lies within the bounds that [Keys] shows; no minimum is above its maximum.
//   - Each seed is an http or https URI, and no URI is a seed twice.
//   - The stack of every host has at least one entry, and each entry a compiled pattern.
//   - The same bytes under the same file names give the same [Config.Digest], wherever the folder lies.
//   - Slices and regular expressions are shared between the Settings that [Config.For] gives out; nobody writes to them.
package config
