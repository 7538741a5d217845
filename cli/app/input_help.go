package app

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"replan/agent/ollama"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/agent/store"
	"replan/cli/config"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/mcpclient"
	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/files"
	"replan/planning/prompt"
	"replan/tui/wording"
)

// inputHelp implements runner.InputHelp with files, resources, commands and the input
// history.
type inputHelp struct {
	workspace string
	pasted    string // the folder of pasted pictures
	profiles  []runner.Profile
	store     *store.Store
	files     *workspace.Operators // nil if they cannot be named
	tools     *mcpclient.Pool
	model     *ollama.Client
	commands  func() []session.Completion // of the chat
	sent      *store.History              // nil stores nothing
}

// newInputHelp returns the input help of a session with these files, tools and model.
func newInputHelp(a *App, files *workspace.Operators, tools *mcpclient.Pool, model *ollama.Client) *inputHelp {
	help := &inputHelp{workspace: a.Folders().Workspace, pasted: a.Folders().Dirs.Pasted(), profiles: a.Planning().Profiles, store: a.Store(), files: files, tools: tools, model: model, commands: a.Commands().List}
	if a.Screen() {
		help.sent = a.Store().History
	}
	return help
}

// Complete lists completions at the cursor.
func (a *inputHelp) Complete(ctx context.Context, of session.Completing) (items []session.Completion, more bool, err error) {
	switch of {
	case session.CompleteMentions:
		items, more, err = a.listFiles(ctx)
		resources, notListed := a.tools.Resources(ctx)
		for _, r := range resources {
			detail := "resource of " + r.Server
			if about := config.First(r.Name, r.Description); about != "" && about != r.URI {
				detail = about + ", " + detail
			}
			items = append(items, session.Completion{Text: r.Server + ":" + r.URI, Detail: untrusted.Text(detail), Folder: r.Open})
		}
		err = errors.Join(err, notListed)
	case session.CompleteFiles:
		items, more, err = a.listFiles(ctx)
	case session.CompleteCommands:
		items = append(a.commands(), promptCommands(a.tools.Prompts().All())...)
	case session.CompletePlans:
		items, err = a.plans()
	case session.CompleteRuns:
		items, err = a.runs()
	case session.CompleteModels:
		items, err = a.models(ctx)
	case session.CompleteProfiles:
		for _, p := range a.profiles {
			items = append(items, session.Completion{Text: p.Name, Detail: untrusted.Text(p.Description)})
		}
		items = append(items, session.Completion{Text: config.NoProfile, Detail: "no profile"})
	default:
		items, err = a.promptValues(ctx, of)
	}
	return items, more, err
}

func (a *inputHelp) listFiles(ctx context.Context) ([]session.Completion, bool, error) {
	if a.files == nil {
		return nil, false, errors.New("the files of this folder cannot be listed")
	}
	paths, more, err := a.files.Mentionable(ctx)
	items := make([]session.Completion, len(paths))
	for i, path := range paths {
		items[i] = session.Completion{Text: path, Folder: strings.HasSuffix(path, "/")}
	}
	return items, more, err
}

func (a *inputHelp) plans() ([]session.Completion, error) {
	list, err := a.store.Plans.List()
	var items []session.Completion
	for _, e := range list {
		if e.Error == nil {
			items = append(items, session.Completion{Text: e.ID, Detail: untrusted.Text(fmt.Sprintf("%s, %s", e.Title, english.Count(e.Steps, "step")))})
		}
	}
	return items, err
}

func (a *inputHelp) runs() ([]session.Completion, error) {
	list, err := a.store.RunSummaries()
	var items []session.Completion
	for _, s := range list {
		items = append(items, session.Completion{Text: s.Run, Detail: untrusted.Text(string(s.Status) + ": " + wording.Excerpt(config.First(s.Goal, s.Title), 60))})
	}
	return items, err
}

func (a *inputHelp) models(ctx context.Context) ([]session.Completion, error) {
	list, err := a.model.Models(ctx)
	var items []session.Completion
	for _, m := range list {
		items = append(items, session.Completion{Text: m.Name, Detail: untrusted.Text(wording.Abilities(m))})
	}
	return items, err
}

// Mention reads what a message mentions: a file or folder of the workspace, a picture
// anywhere, or a resource of a server, SERVER:URI.
func (a *inputHelp) Mention(ctx context.Context, name string) (prompt.Mention, error) {
	if a.files == nil {
		return prompt.Mention{}, errors.New("the files of this folder cannot be read")
	}
	m, err := a.files.Mention(ctx, name)
	if err == nil {
		return m, nil
	}
	if path, ok := a.pictureOutside(name); ok {
		return pictureAt(name, path)
	}
	if server, call, ok := strings.Cut(name, promptMark); ok {
		return a.prompt(ctx, name, server, call)
	}
	if server, uri, ok := strings.Cut(name, ":"); ok {
		resource, served, unread := a.tools.ReadResource(ctx, server, uri)
		if served {
			return resource, unread
		}
	}
	if errors.Is(err, files.ErrMissing) {
		return m, missingFile{err}
	}
	return m, err
}

// missingFile is the error for a name that does not exist.
type missingFile struct{ error }

// Is lets the name count as plain text.
func (missingFile) Is(target error) bool { return target == runner.ErrUnnamed }

// History returns what the user sent before, here and elsewhere.
func (a *inputHelp) History() (h session.History, err error) {
	if a.sent == nil {
		return h, nil
	}
	lines, err := a.sent.Lines()
	for _, l := range lines {
		if runner.SameFolder(l.Workspace, a.workspace) {
			h.Here = append(h.Here, l.Text)
		} else {
			h.Elsewhere = append(h.Elsewhere, l.Text)
		}
	}
	return h, err
}

// Remember keeps a sent message for later sessions.
func (a *inputHelp) Remember(text string) error {
	if a.sent == nil {
		return nil
	}
	return a.sent.Add(store.HistoryLine{Workspace: a.workspace, Text: text})
}

// promptMark separates the server from the name and arguments of a prompt where a
// message mentions it: @SERVER:prompt/NAME?ARGUMENT=VALUE. promptArgument begins the
// kind of completion for an argument of a prompt.
const (
	promptMark     = ":prompt/"
	promptArgument = "prompt argument "
)

// promptCommands returns the prompts of servers as commands of the chat: /SERVER:NAME.
func promptCommands(prompts []mcpclient.Prompt) []session.Completion {
	var out []session.Completion
	for _, p := range prompts {
		c := session.Completion{Text: "/" + p.Server + ":" + p.Name, Detail: untrusted.Text(config.First(p.Description, "prompt of "+p.Server)), Usage: promptUsage(p)}
		for i, a := range p.Arguments {
			of := session.Completing(promptArgument + strings.Join([]string{p.Server, p.Name, a.Name}, " "))
			if i == 0 {
				c.Takes = []session.Completing{of}
			} else {
				c.Then = append(c.Then, of)
			}
		}
		out = append(out, c)
	}
	return out
}

// promptUsage returns the arguments of a prompt; optional ones are in brackets.
func promptUsage(p mcpclient.Prompt) string {
	var words []string
	for _, a := range p.Arguments {
		word := strings.ToUpper(a.Name)
		if !a.Required {
			word = "[" + word + "]"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// promptValues lists a server's completions of an argument of a prompt, after the words
// before it.
func (a *inputHelp) promptValues(ctx context.Context, of session.Completing) ([]session.Completion, error) {
	of, given := of.Words()
	words := strings.Fields(strings.TrimPrefix(string(of), promptArgument))
	if len(words) != 3 {
		return nil, nil
	}
	prompts := a.tools.Prompts()
	before := map[string]string{}
	for _, p := range prompts.All() {
		if p.Server == words[0] && p.Name == words[1] {
			for i, value := range given[:min(len(given), len(p.Arguments))] {
				before[p.Arguments[i].Name] = value
			}
		}
	}
	values, err := prompts.Complete(ctx, words[0], words[1], words[2], before)
	var items []session.Completion
	for _, value := range values {
		items = append(items, session.Completion{Text: value})
	}
	return items, err
}

// prompt reads a mentioned prompt.
func (a *inputHelp) prompt(ctx context.Context, mention, server, call string) (prompt.Mention, error) {
	name, query, _ := strings.Cut(call, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return prompt.Mention{}, fmt.Errorf("the arguments of the prompt %s cannot be read: %w", name, err)
	}
	args := map[string]string{}
	for key := range values {
		args[key] = values.Get(key)
	}
	m, err := a.tools.Prompts().Read(ctx, server, name, args)
	m.Name = mention
	return m, err
}
