// Package schema describes the keys of the configuration files, and reads their values with everything that is wrong.
//
// [Read] decodes a file with BurntSushi/toml, which reports no positions of values. These come from a first pass
// through the text (see positions.go). A file must satisfy both parsers. A value and its position share a [Path].
//
// A [Type] says which values a key accepts: its kind, bounds and choices. The reference page, the JSON Schema and the
// checks are all made from it. Its methods take a [Field] and report what is wrong with [Field.Fault] or odd with
// [Field.Warn]. Each [Fault] has file, line, column, key, value, problem and remedy.
package schema
