package workspace

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"replan/mcpclient/workspace/change"
	"replan/mcpclient/workspace/code/lsp"
	"replan/mcpclient/workspace/code/source"
)

const (
	diagnoseTime    = 10 * time.Second // until a language server has checked a change
	mostDiagnostics = 20               // of one change
)

// diagnoser asks language servers about changes.
type diagnoser struct {
	servers *lsp.Servers // nil without any
	log     *slog.Logger
}

// diagnose returns the errors and warnings that language servers find in changed files.
// Where none runs there are none. A file that one did not check gets a note. The change
// has been made anyway, and it is unknown whether it is free of errors.
func (d *diagnoser) diagnose(ctx context.Context, changed []change.File) []source.Diagnostic {
	byLanguage := map[string][]string{}
	for _, file := range changed {
		if p, known := d.servers.Program(file.Path); known && !file.Folder && file.Action != "removed" && d.servers.Checks(file.Path) {
			byLanguage[p.Language] = append(byLanguage[p.Language], file.Path)
		}
	}
	var found []source.Diagnostic
	for language, paths := range byLanguage {
		diagnostics, err := d.servers.Diagnostics(ctx, paths, diagnoseTime)
		if err != nil {
			d.log.Info("a change was not checked", "language", language, "error", err)
			for i, file := range changed {
				if slices.Contains(paths, file.Path) {
					changed[i].Note = strings.TrimPrefix(file.Note+"; not checked for errors: "+err.Error(), "; ")
				}
			}
		}
		found = append(found, diagnostics...)
	}
	found = slices.DeleteFunc(found, func(found source.Diagnostic) bool { return found.Severity != "error" && found.Severity != "warning" })
	slices.SortStableFunc(found, func(a, b source.Diagnostic) int {
		if a.Severity == b.Severity {
			return 0
		}
		if a.Severity == "error" {
			return -1
		}
		return 1
	})
	return found[:min(len(found), mostDiagnostics)]
}
