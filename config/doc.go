// Package config turns arcrawl.toml and the curators' per-host files into one immutable, valid value.
//
// # Life cycle
//
// [Load] reads the main file and every host file once. It returns either a whole [Config] or [Faults]. A Config never
// changes. A reload is another Load, whose result replaces the Config in [Live] only if it is valid. No package looks
// up settings: for each visit the crawler takes the Config in force once, calls [Config.For] once and passes the
// resolved [Settings] on by value.
//
// # Files
//
// The main file is TOML. Next to it is a folder of host files: hosts.d, unless [storage] hosts names another one. The
// default folder may be absent. Every file in it whose name ends in ".toml" and does not begin with a dot is the file
// of one host. www.news.example.toml applies to the host www.news.example. news.example.toml applies to news.example
// and to all hosts below it, with any port. A public suffix such as co.uk applies only to itself. A host with a port,
// or with characters that a file name cannot contain, is named by the key host = "www.news.example:8080" before the
// first table; the name of the file does not matter then. Other names, such as backups of editors (x.toml~,
// .x.toml.swp), are skipped.
//
// # Layers
//
// Settings are resolved key by key: from the host's file, then from the files of the domains above it, then from the
// main file, then from the defaults. The refinements whose criteria hold for the visit, [[when]], override all of
// them: first the refinements of the main file, then of the domains, then of the host, in each file from top to
// bottom. If two of them set a key, the later one wins. A refinement that sets one of two bounds moves the other one
// if they contradict.
//
// A refinement ends at its until. All settings of a host file end at the until of the file, except that its seeds
// remain seeds. Time is an argument: the same [Config] returns other settings when the time has come, without a
// reload.
//
// Two kinds of settings are more than a key. The [[wait]] entries of a host file come before the stack of the main
// file. An entry inherits the fields that it does not set from the entry with the same mime pattern that it shadows. If
// there is none, it keeps the rule that decided about these types so far; its other fields have the defaults. A main
// file without [[wait]] has [evaluators.Default] as its stack, which its own entries shadow too. And scope.prefixes, if
// scope.by is "prefix" and no file sets them, are the folders of the host's seeds.
//
// # Faults
//
// All mistakes in all files are reported at once, each with file, line, column, key, value, problem and remedy. A file
// with a syntax error has no other faults, because the text after the error cannot be read; the other files are still
// checked. Odd but harmless things, such as a seed that is listed twice, are in [Config.Warnings]. What depends on the
// machine, such as a folder that cannot be written, is checked by the packages that use it.
//
// # Invariants
//
//   - Each duration, size and number is within the bounds of its key; no minimum is above its maximum.
//   - Each seed is an http or https URI, and no URI is a seed twice.
//   - The stack of every host has at least one entry, and each entry has a compiled pattern.
//   - The same bytes under the same file names have the same [Config.Digest], wherever the folder is.
//   - Settings returned by [Config.For] share slices and regular expressions; they must not be modified.
//
// # Texts
//
// [MainFile] and [NewHostFile] return the texts of new files, [Page] and [Schema] the reference of all keys.
//
// A key is declared together with the variable that its values are read into, in a function that returns the keys of
// one file, as (*draft).crawlKeys or the Keys of an aspect does. The subpackage schema has the kinds of keys.
package config
