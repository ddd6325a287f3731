// Package reference describes the keys of the configuration for people and editors: the page docs/config.md ([Page]), a
// JSON Schema ([Schema]), and commented files to start from ([MainFile], [HostFile]). All are made from [config.Keys].
package reference
