package lsp

import (
	"context"
	"fmt"
	"time"

	"github.com/charmbracelet/x/powernap/pkg/lsp/protocol"

	"replan/mcpclient/workspace/code/source"
)

// settle is how long to wait for more diagnostics after the first. Several
// servers send those of the syntax first and those of the types later.
const settle = 300 * time.Millisecond

func (c *client) diagnostic(at string, item protocol.Diagnostic) source.Diagnostic {
	severities := map[protocol.DiagnosticSeverity]string{1: "error", 2: "warning", 3: "information", 4: "hint"}
	severity, known := severities[item.Severity]
	if !known {
		severity = "error"
	}
	place := c.place(at, c.open[at].text, item.Range.Start)
	return source.Diagnostic{Path: at, Line: place.Line, Column: place.Column, Severity: severity, Message: item.Message, Source: item.Source}
}

// diagnose requests the diagnostics of an open file, or waits until the server
// has sent those of the current version.
func (c *client) diagnose(ctx context.Context, at string, within time.Duration) ([]protocol.Diagnostic, error) {
	if c.pulls {
		var report protocol.FullDocumentDiagnosticReport
		err := c.request(ctx, "textDocument/diagnostic", map[string]any{"textDocument": map[string]any{"uri": c.uri(at)}}, &report)
		return report.Items, err
	}
	if document := c.open[at]; document.round != c.round {
		// Another file may have changed since. A new version with the same text makes
		// the server check the file again and send the result.
		if err := c.change(ctx, at, document.text); err != nil {
			return nil, err
		}
	}
	document := c.open[at]
	var items []protocol.Diagnostic
	ok := c.until(ctx, within, func() (bool, time.Duration) {
		last := c.published[at]
		current := last.version == document.version || last.version == 0 && last.count > document.sent
		wait := settle - time.Since(last.at)
		items = last.items
		return current && wait <= 0, max(wait, 0)
	})
	if !ok {
		return nil, fmt.Errorf("%s sent no diagnostics of %s within %s", c.program.Name, at, within)
	}
	return items, nil
}
