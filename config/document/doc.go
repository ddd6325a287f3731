// Package document reads one TOML file of the configuration and reports everything wrong in it with its position.
//
// [Read] decodes a file with BurntSushi/toml, which reports no positions of values. These come from a first pass
// through the text (see positions.go). A file must satisfy both parsers. A value and its position share a [Path].
//
// The reader of a value takes a [Field] and reports what is wrong with [Field.Fault] or odd with [Field.Warn]. Each
// [Fault] has file, line, column, key, value, problem and remedy.
package document
