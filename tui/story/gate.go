package story

import (
	"slices"
	"strings"

	"replan/agent/event"
	"replan/internal/lazyregexp"
	"replan/internal/untrusted"
	"replan/tui/wording"
)

// gates remembers what gates have asked and shown.
type gates struct {
	asked map[string]event.GateRequested // gates of the session itself
	shown []string                       // diffs
}

// tell tells what the user is asked about a call, and the answers.
func (g *gates) tell(at scene, data event.Data) bool {
	switch d := data.(type) {
	case event.GateRequested:
		g.tellOpen(at, Lines|Replay|Asked, d)
	case event.GateResolved:
		e := Entry{Kind: GateAnswered, Level: Asks, Depth: 1, Words: wording.ResolvedWords(at.before.gate, d), Line: wording.GateDecision(d), Event: d}
		if at.before.gate != nil {
			e.Gate = &at.before.gate.GateRequested
		}
		if d.Declined() {
			e.Level = Declined
		}
		at.tell(Lines|Screen|Record|Asked, e)
	case event.ElicitationRequested:
		who, what := untrusted.Line(d.Server)+" asked in ", ": "+d.Message.Line()
		at.event(Lines|Replay|Asked, d, Entry{Kind: ServerAsks, Level: Asks, Words: who + wording.StepWords(d.Step) + what})
		at.tell(Record, Entry{Level: Asks, Words: who + "step " + untrusted.Line(d.Step) + what})
	case event.ElicitationResolved:
		at.tell(Lines|Screen|Record|Asked, Entry{Kind: ServerAnswered, Level: Asks, Depth: 1, Words: wording.ElicitationWords(d)})
	default:
		return false
	}
	return true
}

// tellOpen tells the question of a gate, unless its call would change nothing.
func (g *gates) tellOpen(at scene, to Reader, d event.GateRequested) {
	if d.Nothing {
		return
	}
	if d.Diff != "" && at.isRead(to) {
		g.shown = append(g.shown, d.Diff)
	}
	at.tell(to, Entry{Kind: GateOpens, Level: Asks, Words: wording.AskedWords(d), Gate: &d})
}

// ask tells the question of a gate of the session itself.
func (g *gates) ask(at scene, d event.GateRequested) {
	g.asked[d.Gate] = d
	g.tellOpen(at, Lines|Asked, d)
}

// answer tells the answer to a gate of the session itself.
func (g *gates) answer(at scene, d event.GateResolved) {
	e := Entry{Kind: GateAnswered, Level: Asks, Depth: 1, Words: wording.GateDecision(d), Event: d}
	if asked, ok := g.asked[d.Gate]; ok {
		e.Gate = &asked
	}
	at.tell(Lines|Asked, e)
}

// hasShown reports whether a gate showed a diff.
func (g *gates) hasShown(diff string) bool { return slices.Contains(g.shown, diff) }

// DiffFence matches a fenced block of a diff in Markdown.
var DiffFence = lazyregexp.New("(?ms)^```+diff\n(.*?)^```+ *$\n?")

// withoutShown drops the fenced diffs of an answer that a gate already showed.
func (g *gates) withoutShown(answer string) string {
	return DiffFence.ReplaceAllStringFunc(answer, func(block string) string {
		diff := strings.TrimSpace(DiffFence.FindStringSubmatch(block)[1])
		for _, shown := range g.shown {
			if strings.TrimSpace(untrusted.Visible(shown)) == diff {
				return ""
			}
		}
		return block
	})
}
