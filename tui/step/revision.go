package step

import (
	"fmt"
	"strings"

	"replan/agent"
	"replan/tui/draw"
	"replan/tui/wording"
)

// drawRevision draws the changes of an older revision and its reason.
func drawRevision(p *draw.Document, r *agent.Revision) {
	l := p.Styles
	p.Prose(l.Strong, fmt.Sprintf("Revision %d", r.Number))
	var removed []string
	for i := range r.Removed {
		removed = append(removed, r.Removed[i].Step.Index)
	}
	for _, part := range wording.RevisionParts(removed, r.Added, r.Revised) {
		p.Field(part.Name, l.Text, part.Steps)
	}
	if r.Reason != "" {
		p.Field("because", l.Text, strings.TrimSpace(r.Reason.Visible()))
	}
}
