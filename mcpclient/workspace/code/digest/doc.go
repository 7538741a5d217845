// Package digest sums up by rule, without a model. It takes a file, a folder, a diff, a
// log, the report of a test run, or the facts about a symbol. It counts its numbers, and
// takes its words from its input.
//
// The input is untrusted text of files and tools. It is quoted in code spans and
// fences it cannot leave, and never followed. The package imports source and
// packages of internal. Start reading at [Digest].
package digest
