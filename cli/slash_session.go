package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"replan/agent/runner"
	"replan/planning"
	"replan/tui/untrusted"
)

// sessionCommand carries out a line that is about the session itself rather than
// about plans and runs; ok is false where it is none of these.
func (o *options) sessionCommand(ctx context.Context, w *workshop, line string) (answer runner.Answer, ok bool, err error) {
	name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	rest = strings.TrimSpace(rest)
	switch name {
	case "/steer":
		answer, err = steer(rest)
	case "/model":
		answer, err = o.slashModel(ctx, w, rest)
	case "/models":
		answer, err = listModels(ctx, w.model)
	case "/think":
		answer, err = slashThink(rest)
	case "/profile":
		answer, err = o.slashProfile(rest)
	case "/profiles":
		answer, err = o.listProfiles()
	case "/compact":
		answer, err = o.compact(rest)
	default:
		return answer, false, nil
	}
	return answer, true, err
}

// steer speaks to the run that goes on, with the words as they were typed.
func steer(text string) (runner.Answer, error) {
	if text == "" {
		return runner.Answer{}, usage("say what the run should know: /steer TEXT")
	}
	return runner.Answer{Then: runner.Steer{Text: text}}, nil
}

// compact has the conversation summed up, or the turns put back.
func (o *options) compact(word string) (runner.Answer, error) {
	switch {
	case word != "" && word != "undo":
		return runner.Answer{}, usage("/compact takes nothing or undo, not %q", word)
	case !o.screen():
		return runner.Answer{}, usage("/compact is for a conversation that goes on, on the full screen")
	}
	return runner.Answer{Then: runner.Compact{Undo: word != ""}}, nil
}

// slashModel chooses a model, which must be one that the server has; without a
// name it lists them.
func (o *options) slashModel(ctx context.Context, w *workshop, name string) (runner.Answer, error) {
	if name == "" {
		return listModels(ctx, w.model)
	}
	info, err := w.model.Describe(ctx, name)
	if err != nil {
		return runner.Answer{}, err
	}
	return runner.Answer{
		Text: fmt.Sprintf("from the next run on: `%s`, %s of context, %s", untrusted.Line(info.Name), tokens(info.ContextWindow), abilities(info)),
		Then: runner.Choose{Model: &info.Name},
	}, nil
}

// slashThink chooses how hard the model thinks.
func slashThink(name string) (runner.Answer, error) {
	if name == "" {
		return runner.Answer{}, usage("say how hard the model is to think: /think %s", strings.Join(planning.ThinkLevels(), "|"))
	}
	level, err := readThink("/think", name)
	if err != nil {
		return runner.Answer{}, err
	}
	return runner.Answer{Text: "from the next run on: think " + first(string(level), "auto"), Then: runner.Choose{Think: &level}}, nil
}

// slashProfile chooses a profile; without a name it lists them.
func (o *options) slashProfile(name string) (runner.Answer, error) {
	if name == "" {
		return o.listProfiles()
	}
	if name == noProfile {
		none := ""
		return runner.Answer{Text: "from the next run on: no profile", Then: runner.Choose{Profile: &none}}, nil
	}
	if !slices.Contains(o.manner.profileNames(), name) {
		return runner.Answer{}, o.unknownProfile(name)
	}
	return runner.Answer{Text: "from the next run on: the profile `" + name + "`", Then: runner.Choose{Profile: &name}}, nil
}

// listModels tells which models the server has.
func listModels(ctx context.Context, shelf runner.Shelf) (runner.Answer, error) {
	models, err := shelf.Models(ctx)
	if err != nil {
		return runner.Answer{}, err
	}
	if len(models) == 0 {
		return runner.Answer{Text: "the server has no model: `ollama pull NAME` fetches one"}, nil
	}
	return table("model\tsize\tcontext\tcan", len(models), func(i int) []string {
		m := models[i]
		loaded := ""
		if m.Loaded {
			loaded = "loaded"
		}
		return []string{m.Name, size(m), tokens(cmp.Or(m.Longest, m.ContextWindow)), abilities(m), loaded}
	})
}

// listProfiles tells which profiles the session can work by.
func (o *options) listProfiles() (runner.Answer, error) {
	profiles := o.manner.profiles
	if len(profiles) == 0 {
		return runner.Answer{Text: "there is no profile: a section `[profiles.NAME]` of config.toml makes one"}, nil
	}
	return table("profile\tmodel\twhat it is for", len(profiles), func(i int) []string {
		p := profiles[i]
		return []string{p.Name, first(p.Model, "-"), first(p.Description, "-")}
	})
}

// table is an answer of rows under a heading, cells parted by tabs.
func table(heading string, rows int, row func(int) []string) (runner.Answer, error) {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, heading)
	for i := range rows {
		cells := row(i)
		for at := range cells {
			cells[at] = untrusted.Line(cells[at])
		}
		_, _ = fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	if err := t.Flush(); err != nil {
		return runner.Answer{}, err
	}
	return runner.Answer{Text: codeBlock(b.String())}, nil
}

// abilities says what a model can do beside answering.
func abilities(m planning.ModelInfo) string {
	var can []string
	switch {
	case !m.Chats:
		return "no chat"
	case m.Tools:
		can = append(can, "tools")
	}
	if m.Thinks {
		can = append(can, "thinking")
	}
	return first(strings.Join(can, ", "), "chat alone")
}

// size is how much room a model takes on disk, with what its server says of it.
func size(m planning.ModelInfo) string {
	const mega, giga = 1e6, 1e9
	parts := []string{"-"}
	switch {
	case m.Bytes >= giga:
		parts[0] = fmt.Sprintf("%.1f GB", float64(m.Bytes)/giga)
	case m.Bytes > 0:
		parts[0] = fmt.Sprintf("%.0f MB", float64(m.Bytes)/mega)
	}
	for _, more := range []string{m.Parameters, m.Quantization} {
		if more != "" {
			parts = append(parts, more)
		}
	}
	return strings.Join(parts, " ")
}

// tokens is a number of tokens as people say it.
func tokens(n int) string {
	switch {
	case n <= 0:
		return "-"
	case n < 1024:
		return fmt.Sprint(n)
	default:
		return fmt.Sprintf("%dk", n/1024)
	}
}
