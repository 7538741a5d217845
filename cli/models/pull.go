package models

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"replan/agent/event"
	"replan/agent/ollama"
	"replan/agent/session"
	"replan/cli/args"
	"replan/cli/ask"
	"replan/cli/exit"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/wording"
)

func (g group) newPull() *cobra.Command {
	return &cobra.Command{
		Use: "pull MODEL", Short: "Download a model, or its newer version",
		Long: "pull has Ollama download a model from its registry. After ctrl+c, or if the connection breaks, what was loaded stays,\n" +
			"and the same command goes on from there. Names are at ollama.com/search.",
		Example: "  replan models pull qwen3:8b\n  replan models pull qwen3:8b --host 192.168.1.5",
		Args:    args.Shell(args.One("MODEL")),
		RunE: func(cmd *cobra.Command, words []string) error {
			return g.with(func(c *ollama.Client) error { return g.pull(cmd.Context(), c, strings.TrimSpace(words[0])) })
		},
	}
}

// pull downloads a model, and shows how far it is.
func (g group) pull(ctx context.Context, c *ollama.Client, name string) error {
	show, end := g.progress(name)
	meter := session.NewPullMeter(name, time.Now)
	err := c.Pull(ctx, name, func(step string, done, total int64) {
		if report, due := meter.Read(step, done, total); due {
			show(report)
		}
	})
	end()
	if errors.Is(err, context.Canceled) {
		return &exit.Error{
			Status: exit.Interrupted, Code: string(event.ReasonInterrupted),
			Err: fmt.Errorf("stopped; what was loaded of %s stays: the same command goes on from there", name),
		}
	}
	if err != nil {
		return err
	}
	return g.print(outcome{Model: name, Done: "pulled", Bytes: meter.Last().Total})
}

// progress returns what shows the progress of a pull: a line that is drawn again and again
// on a terminal, else lines on standard error.
func (g group) progress(name string) (show func(session.PullProgress), end func()) {
	out := g.app.Out()
	styles := out.Styles()
	if styles == nil || g.app.Form().Plain {
		var l plainLines
		return func(p session.PullProgress) {
			if line := l.next(p); line != "" {
				out.Note("%s", line)
			}
		}, func() {}
	}
	live := ask.NewOutput(out.Colored(g.app.IO().Out), styles)
	show = func(p session.PullProgress) { live.Live(bar(styles, p, out.Terminal().Width())) }
	show(session.PullProgress{Model: name})
	return show, live.EndLive
}

// bar draws the progress in a line of at most width cells.
func bar(l *draw.Styles, p session.PullProgress, width int) string {
	const gauge = 20 // cells
	l.Advance()
	parts := []string{l.Running.Render(l.Spinner()) + " " + l.Strong.Render(l.Cut(untrusted.Line(p.Model), max(width/3, 12)))}
	if p.Total > 0 && width >= 4*gauge {
		parts = append(parts, l.Gauge(float64(p.Done)/float64(p.Total), gauge, l.Running))
	}
	for _, words := range wording.PullFigures(p) {
		parts = append(parts, l.Muted.Render(words))
	}
	return l.Cut(strings.Join(parts, "  "), width)
}

// plainLines says how far a pull is in lines: one for each tenth, and for what else the
// server does.
type plainLines struct {
	step  string // the last one besides downloads
	tenth int64  // the last one that was told, counted from 1
}

// tenths are the parts of a pull that get a line each.
const tenths = 10

// next returns the line for a report, "" for none.
func (l *plainLines) next(p session.PullProgress) string {
	if p.Total > 0 && wording.Downloads(p) {
		part := p.Done*tenths/p.Total + 1
		if part <= l.tenth {
			return ""
		}
		l.tenth = part
	} else if step := p.Step.Line(); step == l.step || step == "success" {
		return ""
	} else {
		l.step = step
	}
	return untrusted.Line(p.Model) + ": " + strings.Join(wording.PullFigures(p), ", ")
}
