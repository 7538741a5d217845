package models

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"replan/agent/event"
	"replan/agent/ollama"
	"replan/cli/app"
	"replan/cli/args"
	"replan/cli/config"
	"replan/cli/doctor"
	"replan/cli/exit"
	"replan/cli/tty"
	"replan/internal/untrusted"
	"replan/planning/prompt"
	"replan/tui/wording"
)

// group is replan models with the commands below it.
type group struct{ app *app.App }

// New returns the command replan models.
func New(a *app.App) *cobra.Command {
	g := group{a}
	list := func(cmd *cobra.Command, _ []string) error {
		return g.with(func(c *ollama.Client) error { return g.list(cmd.Context(), c) })
	}
	command := &cobra.Command{
		Use: "models", Short: "List, pull and remove the models of Ollama",
		Long: "models lists the models of Ollama: their size, what they can do, what replan uses them for, and what replan fit\n" +
			"found. Save your choice with replan config set model.name MODEL.",
		Example: "  replan models\n  replan models pull qwen3:8b\n  replan models remove qwen3:8b --yes",
		Args:    args.None, RunE: list,
	}
	command.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List the installed models",
			Example: "  replan models list --output json", Args: args.None, RunE: list,
		},
		g.newPull(), g.newRemove(),
	)
	return command
}

// with opens the server for a command. It turns errors of Ollama into exit errors.
func (g group) with(do func(*ollama.Client) error) error {
	client, err := ollama.New(g.app.ModelServer())
	if err != nil {
		return exit.Usage("%w", err)
	}
	defer client.Close() //nolint:errcheck // it only closes idle connections
	err = do(client)
	var exits *exit.Error
	switch {
	case err == nil, errors.As(err, &exits), errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, prompt.ErrNoModel):
		return &exit.Error{Status: event.ReasonNoModel.ExitCode(), Code: string(event.ReasonNoModel), Err: err}
	default:
		return &exit.Error{Status: exit.Failed, Code: "failed", Err: err}
	}
}

// modelRow is a model in the output.
type modelRow struct {
	prompt.ModelInfo
	UsedFor []string `json:"used_for"` // such as answers and plans; empty if replan does not use it
}

// list prints the installed models.
func (g group) list(ctx context.Context, c *ollama.Client) error {
	out := g.app.Out()
	installed, err := c.Models(ctx)
	if err != nil {
		return err
	}
	answers := g.app.Model().Name
	if chosen, err := c.Describe(ctx, ""); err == nil {
		answers = chosen.Name
	} else if ctx.Err() != nil {
		return ctx.Err()
	}
	roles := rolesOf(answers, g.app.Planning())
	all := []modelRow{}
	for _, m := range installed {
		all = append(all, modelRow{m, app.NoNil(roles.of(m.Name))})
	}
	if out.JSON() {
		return out.PrintJSON(all)
	}
	if len(all) == 0 {
		return out.Print("Ollama at " + c.Host() + " has no models; pull one: replan models pull " + wording.SuggestedModel + "\n")
	}
	if err := out.Print(text(out.Terminal(), all)); err != nil {
		return err
	}
	for _, r := range roles {
		if !slices.ContainsFunc(installed, func(m prompt.ModelInfo) bool { return prompt.SameModel(m.Name, r.model) }) {
			out.Note("%s is not installed but is configured for %s; pull it: replan models pull %s", untrusted.Line(r.model), strings.Join(r.does, ", "), untrusted.Line(r.model))
		}
	}
	return nil
}

// text lists models: as a table for people, and as whole values for programs.
func text(t *tty.Terminal, all []modelRow) string {
	heads := []string{"model", "size", "params", "context", "can", "used for", "fit"}
	if t == nil {
		var rows [][]string
		for _, m := range all {
			rows = append(rows, m.values(false))
		}
		return tty.Tabs(rows)
	}
	const whole, half = 120, 100 // cells that leave room for all columns, and for all but the last
	columns := []int{0, 1, 2, 3, 4, 5, 6}
	switch {
	case t.Width() < half:
		columns = []int{0, 1, 3, 4, 5}
	case t.Width() < whole:
		columns = columns[:6]
	}
	list := tty.Listing{Wide: len(columns) - 1}
	for _, at := range columns {
		list.Heads = append(list.Heads, heads[at])
	}
	below := ""
	for _, m := range all {
		values := m.values(t.Width() < half)
		if t.Width() < whole && m.Fit != nil {
			below += untrusted.Line(m.Name+": "+values[6]) + "\n"
		}
		var row []tty.Cell
		for _, at := range columns {
			style := t.Styles.Muted
			switch at {
			case 0:
				style = t.Styles.Accent
			case 5:
				style = t.Styles.Success
			}
			row = append(row, tty.Cell{Text: values[at], Style: style})
		}
		list.Rows = append(list.Rows, row)
	}
	return t.List(list) + below
}

// values returns the columns of a model; short leaves out the longest context.
func (m modelRow) values(short bool) []string {
	context, found := window(m.ModelInfo), ""
	if short {
		context, _, _ = strings.Cut(context, " ")
	}
	if m.Fit != nil {
		found = strings.Join(m.Fit.Brief(), ", ")
	}
	return []string{m.Name, wording.DiskSize(m.Bytes), m.Parameters.Line(), context, wording.Abilities(m.ModelInfo), strings.Join(m.UsedFor, ", "), found}
}

// window returns the context window that a model gets, of the longest it could have.
func window(m prompt.ModelInfo) string {
	if m.ContextWindow > 0 && m.Longest > m.ContextWindow {
		return wording.WindowSize(m.ContextWindow) + " of " + wording.WindowSize(m.Longest)
	}
	return wording.WindowSize(max(m.ContextWindow, m.Longest))
}

// role is what a model is used for.
type role struct {
	model string
	does  []string
}

// roles are the models that replan uses, in the order of their work.
type roles []role

// rolesOf returns what the models of a session do. Answers names the one that answers.
func rolesOf(answers string, p config.Planning) roles {
	var all roles
	add := func(model, does string) {
		if model == "" {
			return
		}
		at := slices.IndexFunc(all, func(r role) bool { return prompt.SameModel(r.model, model) })
		if at < 0 {
			all, at = append(all, role{model: model}), len(all)
		}
		if !slices.Contains(all[at].does, does) {
			all[at].does = append(all[at].does, does)
		}
	}
	add(answers, "answers")
	models := p.Prompting.Models
	add(config.First(models.Planner.Name, answers), "plans")
	add(models.Analysis.Name, "analysis")
	add(models.Review.Name, "review")
	add(models.Plan.Name, "execution plans")
	for _, agent := range p.Prompting.Profiles {
		add(agent.Model, "agent "+agent.Name)
	}
	for _, profile := range p.Profiles {
		add(profile.Model, "profile "+profile.Name)
	}
	return all
}

// of returns what a model is used for.
func (all roles) of(model string) []string {
	for _, r := range all {
		if prompt.SameModel(r.model, model) {
			return r.does
		}
	}
	return nil
}

// outcome is the outcome of a pull or a removal in the output.
type outcome struct {
	Model string `json:"model"`
	Done  string `json:"done"`            // pulled or removed
	Bytes int64  `json:"bytes,omitempty"` // on disk
}

// print prints the outcome of a pull or a removal.
func (g group) print(e outcome) error {
	out := g.app.Out()
	if out.JSON() {
		return out.PrintJSON(e)
	}
	size := ""
	if e.Bytes > 0 {
		size = " (" + wording.DiskSize(e.Bytes) + ")"
	}
	return out.Print(doctor.Sign(g.app, doctor.OK) + " " + untrusted.Line(e.Done+" "+e.Model+size) + "\n")
}
