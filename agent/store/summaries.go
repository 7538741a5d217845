package store

import (
	"time"

	"replan/agent"
	"replan/agent/store/journal"
	"replan/internal/wholefile"
)

// summariesVersion is the version of the file format. A change to what a summary
// says needs a new one.
const summariesVersion = 1

// summariesFile holds the summaries of runs, so that a list of runs need not read
// every journal.
type summariesFile struct {
	V    int                      `json:"v"`
	Runs map[string]cachedSummary `json:"runs"` // by id
}

// cachedSummary is the summary of a journal of this size and time.
type cachedSummary struct {
	Bytes    int64         `json:"bytes"`
	Modified time.Time     `json:"modified"`
	Summary  agent.Summary `json:"summary"`
}

// openSummaries returns the summaries in the given file. It reads and writes
// nothing yet.
func openSummaries(path string) *wholefile.JSON[summariesFile] {
	return &wholefile.JSON[summariesFile]{
		Path: path, What: "summaries of runs", Empty: summariesFile{V: summariesVersion},
		Sound: func(f summariesFile) bool { return f.V == summariesVersion },
	}
}

// find returns the summary of a journal, if it has not changed since and no
// process writes it.
func (f summariesFile) find(e journal.Entry) (agent.Summary, bool) {
	known, ok := f.Runs[e.ID]
	ok = ok && !e.Locked && known.Bytes == e.Bytes && known.Modified.Equal(e.Modified)
	return known.Summary, ok
}

// summarize returns the summaries to keep for the listed journals.
func summarize(entries []journal.Entry, known summariesFile, fresh map[string]agent.Summary) summariesFile {
	kept := summariesFile{V: summariesVersion, Runs: make(map[string]cachedSummary, len(entries))}
	for _, e := range entries {
		s, ok := fresh[e.ID]
		if !ok {
			s, ok = known.find(e)
		}
		if ok {
			kept.Runs[e.ID] = cachedSummary{Bytes: e.Bytes, Modified: e.Modified, Summary: s}
		}
	}
	return kept
}
