package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"replan/agent/runner"
	"replan/agent/session"
	"replan/cli/app"
	"replan/cli/config"
	"replan/cli/exit"
	"replan/cli/lines"
	"replan/cli/slash"
	"replan/internal/untrusted"
	"replan/planning/prompt"
	"replan/tui/transcript"
	"replan/tui/wording"
)

// sessionCommands returns the chat commands about the session itself, as opposed
// to plans and runs.
func (o chat) sessionCommands(w *app.Services) []slash.Command {
	type of = []session.Completing
	return []slash.Command{
		{
			Name: "/model", Args: "[NAME]", Short: "Choose the model from the next run on", Completes: of{session.CompleteModels},
			Answer: func(ctx context.Context, now runner.SlashState, rest string) (runner.Answer, error) {
				return slashModel(ctx, w, now, rest)
			},
		},
		{
			Name: "/models", Short: "List the models of the server",
			Answer: func(ctx context.Context, _ runner.SlashState, _ string) (runner.Answer, error) {
				return listModels(ctx, w.Model())
			},
		},
		{
			Name: "/think", Args: "LEVEL", Short: "Set how hard the model thinks from the next run on", Words: prompt.ThinkLevels(),
			Answer: func(ctx context.Context, now runner.SlashState, rest string) (runner.Answer, error) {
				return slashThink(ctx, w, now, rest)
			},
		},
		{
			Name: "/profile", Args: "[NAME|none]", Short: "Choose the profile from the next run on", Completes: of{session.CompleteProfiles},
			Answer: func(_ context.Context, _ runner.SlashState, rest string) (runner.Answer, error) {
				return o.slashProfile(rest)
			},
		},
		{
			Name: "/profiles", Short: "List the profiles",
			Answer: func(context.Context, runner.SlashState, string) (runner.Answer, error) { return o.listProfiles() },
		},
		{
			Name: "/steer", Args: "TEXT", Short: "Send a text to the current run",
			Answer: func(_ context.Context, now runner.SlashState, rest string) (runner.Answer, error) {
				return steer(now, rest)
			},
		},
		{
			Name: session.SideCommand, Args: "TEXT", Short: "Ask about the run without changing it, while it goes on",
			Answer: func(_ context.Context, _ runner.SlashState, rest string) (runner.Answer, error) {
				return askSide(rest)
			},
		},
		{
			Name: "/compact", Args: "[undo]", Short: "Summarize the oldest part of the conversation; /compact undo restores it", Words: []string{"undo"},
			Answer: func(_ context.Context, _ runner.SlashState, rest string) (runner.Answer, error) {
				return o.compact(rest)
			},
		},
		{
			Name: "/export", Args: "[FILE]", Short: "Export the conversation as Markdown to a new file", Completes: of{session.CompleteFiles},
			Answer: func(_ context.Context, _ runner.SlashState, rest string) (runner.Answer, error) {
				return o.slashExport(w, rest)
			},
		},
		{
			Name: "/review", Args: "on|off", Short: "Review plans before they run, from the next run on", Words: []string{"on", "off"},
			Answer: func(_ context.Context, _ runner.SlashState, rest string) (runner.Answer, error) {
				return o.slashReview(rest)
			},
		},
	}
}

// aboutSession returns the names of those commands.
func (o chat) aboutSession() []string {
	var names []string
	for _, c := range o.sessionCommands(nil) {
		names = append(names, c.Name)
	}
	return names
}

// steer sends a remark to the current run, exactly as typed.
func steer(now runner.SlashState, text string) (runner.Answer, error) {
	switch {
	case text == "":
		return runner.Answer{}, exit.Usage("name the text to send: /steer TEXT")
	case !now.Busy:
		return runner.Answer{}, exit.Usage("there is no active run; send the text without /steer to start one")
	}
	return runner.Answer{Then: session.Steer{Text: text}}, nil
}

// askSide asks a side question, exactly as typed.
func askSide(text string) (runner.Answer, error) {
	if text == "" {
		return runner.Answer{}, exit.Usage("name the question: %s TEXT", session.SideCommand)
	}
	return runner.Answer{Then: session.AskSideQuestion{Question: text}}, nil
}

// slashReview sets whether later plans are held for review.
func (o chat) slashReview(word string) (runner.Answer, error) {
	switch {
	case word != "on" && word != "off":
		return runner.Answer{}, exit.Usage("use /review on or /review off")
	case !o.app.Asks():
		return runner.Answer{}, lines.NobodyReviews(o.app)
	case word == "on":
		return runner.Answer{Text: "from the next run on: you review plans before they run", Then: session.Hold{On: true}}, nil
	default:
		return runner.Answer{Text: "from the next run on: plans run at once", Then: session.Hold{}}, nil
	}
}

// compact summarizes the conversation, or restores the summarized turns.
func (o chat) compact(word string) (runner.Answer, error) {
	switch {
	case word != "" && word != "undo":
		return runner.Answer{}, exit.Usage("/compact takes no argument or undo, not %q", word)
	case !o.app.Screen():
		return runner.Answer{}, exit.Usage("/compact works only in a conversation on the full screen")
	}
	return runner.Answer{Then: session.Compact{Undo: word != ""}}, nil
}

// slashModel chooses one of the server's models; without a name it lists them.
func slashModel(ctx context.Context, w *app.Services, now runner.SlashState, name string) (runner.Answer, error) {
	if name == "" {
		return listModels(ctx, w.Model())
	}
	info, err := w.Model().Describe(ctx, name)
	if err != nil {
		return runner.Answer{}, err
	}
	info.Name = prompt.TaggedName(info.Name)
	text := "from the next run on: `" + untrusted.Line(info.Name) + "`, "
	if room := wording.WindowSize(info.ContextWindow); room != "" {
		text += room + " of context, "
	}
	return runner.Answer{Text: sentences(text+wording.Abilities(info), wording.NoThinking(info, now.Think)), Then: session.Choose{Model: &info.Name}}, nil
}

func sentences(parts ...string) string { return strings.Join(slices.DeleteFunc(parts, blank), ". ") }

// slashThink chooses how hard the model thinks.
func slashThink(ctx context.Context, w *app.Services, now runner.SlashState, name string) (runner.Answer, error) {
	if name == "" {
		return runner.Answer{}, exit.Usage("use /think %s", strings.Join(prompt.ThinkLevels(), "|"))
	}
	level, err := config.ReadThink("/think", name)
	if err != nil {
		return runner.Answer{}, err
	}
	text := "from the next run on: think " + config.First(string(level), "auto")
	if info, err := w.Model().Describe(ctx, now.Model); err == nil { // otherwise the next run reports the error
		text = sentences(text, wording.NoThinking(info, level))
	}
	return runner.Answer{Text: text, Then: session.Choose{Think: &level}}, nil
}

// slashProfile chooses a profile; without a name it lists them.
func (o chat) slashProfile(name string) (runner.Answer, error) {
	if name == "" {
		return o.listProfiles()
	}
	if name == config.NoProfile {
		none := ""
		return runner.Answer{Text: "from the next run on: no profile", Then: session.Choose{Profile: &none}}, nil
	}
	if !slices.Contains(o.app.Planning().Prompting.ProfileNames(), name) {
		return runner.Answer{}, o.app.Planning().UnknownProfile(name)
	}
	return runner.Answer{Text: "from the next run on: the profile `" + name + "`", Then: session.Choose{Profile: &name}}, nil
}

// listModels lists the models of the server.
func listModels(ctx context.Context, lister runner.ModelLister) (runner.Answer, error) {
	models, err := lister.Models(ctx)
	if err != nil {
		return runner.Answer{}, err
	}
	if len(models) == 0 {
		return runner.Answer{Text: "no models installed; to get one: `ollama pull NAME`"}, nil
	}
	rows := [][]string{{"model", "size", "context", "can", "goals", "speed", "loaded"}}
	for _, m := range models {
		loaded, goals := "", ""
		if m.Loaded {
			loaded = "yes"
		}
		if m.Fit != nil {
			goals = m.Fit.Goals().String()
		}
		rows = append(rows, []string{m.Name, size(m), wording.WindowSize(cmp.Or(m.ContextWindow, m.Longest)), wording.Abilities(m), goals, m.Speed.String(), loaded})
	}
	return table(rows)
}

// listProfiles lists the profiles for the session.
func (o chat) listProfiles() (runner.Answer, error) {
	profiles := o.app.Planning().Profiles
	if len(profiles) == 0 {
		return runner.Answer{Text: "there are no profiles: define one with a section `[profiles.NAME]` in config.toml"}, nil
	}
	rows := [][]string{{"profile", "model", "what it is for"}}
	for _, p := range profiles {
		rows = append(rows, []string{p.Name, p.Model, p.Description})
	}
	return table(rows)
}

// table formats rows as an answer; the first row is the heading. It leaves out
// empty columns.
func table(rows [][]string) (runner.Answer, error) {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	for _, row := range rows {
		var cells []string
		for at, cell := range row {
			if slices.ContainsFunc(rows[1:], func(r []string) bool { return !blank(r[at]) }) {
				cells = append(cells, untrusted.Line(cell))
			}
		}
		_, _ = fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	if err := t.Flush(); err != nil {
		return runner.Answer{}, err
	}
	return runner.Answer{Text: slash.CodeBlock(trailing.ReplaceAllString(b.String(), ""))}, nil
}

// trailing matches blanks at the end of a line, which empty last cells leave.
var trailing = regexp.MustCompile(`(?m) +$`)

func blank(text string) bool { return strings.TrimSpace(text) == "" }

// size returns the size of a model on disk, else its parameters, "" if unknown.
func size(m prompt.ModelInfo) string {
	if m.Bytes > 0 {
		return wording.DiskSize(m.Bytes)
	}
	return m.Parameters.Line()
}

// slashExport implements /export: it writes the conversation as Markdown to a new
// file.
func (o chat) slashExport(w *app.Services, file string) (runner.Answer, error) {
	text, err := o.transcript(w.Session().ID(), time.Now())
	if err != nil {
		return runner.Answer{}, err
	}
	path, err := o.app.Store().Export(o.app.Folders().Workspace, file, text, time.Now())
	switch {
	case errors.Is(err, fs.ErrExist):
		return runner.Answer{}, exit.Usage("%s already exists: name another file", path)
	case err != nil:
		return runner.Answer{}, exit.Wrap("export", err)
	}
	return runner.Answer{Text: "exported the conversation to `" + path + "`; possible secrets were removed"}, nil
}

// transcript returns a session as Markdown.
func (o chat) transcript(session string, now time.Time) (string, error) {
	events, err := o.app.Store().Sessions.Read(session)
	if err != nil {
		return "", o.app.Out().Unopened(err)
	}
	c := transcript.Conversation{Session: events, Exported: now, Workspace: o.app.Folders().Workspace}
	if c.Home, err = os.UserHomeDir(); err != nil {
		c.Home = ""
	}
	if c.Runs, err = o.app.Store().RunsOfSession(session, events); err != nil {
		return "", o.app.Out().Unopened(err)
	}
	return o.app.Servers().Secrets().Text(transcript.Markdown(c)), nil
}
