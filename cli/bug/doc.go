// Package bug packs what a report about a run needs into one file, without secrets. It
// takes the journal, the version, the checks of replan doctor and the configuration.
//
// It imports agent/event and internal/redact. Start reading at [Report].
package bug
