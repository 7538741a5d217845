package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/rule"
	"replan/cli/ask"
	"replan/cli/config"
	"replan/cli/exit"
	"replan/cli/help"
	"replan/cli/mcp"
	"replan/cli/slash"
	"replan/cli/toolschema"
	"replan/cli/tty"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/mcpclient"
	mcpconfig "replan/mcpclient/config"
	"replan/mcpclient/oauth"
	"replan/planning/plan"
	"replan/tui/plain"
	"replan/tui/telling"
)

// toolsSoon is how long a command waits for servers to start before it says so.
const toolsSoon = 2 * time.Second

func newTools(o *options) *cobra.Command {
	list := func(cmd *cobra.Command, _ []string) error { return o.withCatalogue(cmd.Context(), "", o.listTools) }
	command := &cobra.Command{
		Use: "tools", Short: "List the tools that plans may use", Args: noArgs, RunE: list,
	}
	command.AddCommand(&cobra.Command{Use: "list", Short: "List the tools that plans may use", Args: noArgs, RunE: list})
	command.AddCommand(newToolsShow(o), newToolsCall(o), newToolsAccept(o))
	return command
}

// newMCP returns replan mcp.
func newMCP(o *options) *cobra.Command {
	var input *ask.Input
	return mcp.New(mcp.Host{
		In: o.io.In, Getenv: o.io.Getenv, AllLogins: func() *oauth.Store { return o.wiring().allLogins() },
		Options: &o.Options, Terminal: o.tty, Print: o.print, JSON: o.printJSON, Sign: o.checkSign, Asks: o.asks,
		Warn:    func(text string) { _, _ = fmt.Fprintf(o.io.Err, "replan: %s\n", untrusted.Line(text)) },
		Servers: func() ([]mcpconfig.Server, error) { return o.wiring().readServers(nil) },
		Usage:   exit.Usage,
		Failed: func(err error) error {
			if err == nil {
				err = exit.ErrReported
			}
			return &exit.Error{Status: exit.Failed, Code: "failed", Err: err}
		},
		Unknown: func(cmd *cobra.Command, word string) error {
			return exit.Usage("%w", slash.Unknown(word, cmd.CommandPath(), help.Names(cmd)))
		},
		Help: func(cmd *cobra.Command) error { return o.showHelp(cmd, false) },
		Confirm: func(ctx context.Context, question string) (yes bool, err error) {
			if input == nil {
				if input, err = ask.NewInput(o.io.In, o.io.Quiet); err != nil {
					return false, exit.Wrap("read standard input", err)
				}
			}
			yes, err = input.Confirm(ctx, o.coloured(o.io.Out), question, o.look())
			return yes, exit.Wrap(exit.Writing, err)
		},
		Pool: func() (mcpclient.Config, func(), error) {
			w := &services{watch: o.wiring().newWatch()}
			err := w.makeBox(o)
			cfg := o.poolConfig(mcpclient.TrustNone)
			cfg.Watcher, cfg.Box = w.watcher(), w.box
			return cfg, func() { _ = w.close() }, err // only the watch and the box have to end
		},
	})
}

// toolLine is a tool in the output of replan tools.
type toolLine struct {
	Name        string `json:"name"`
	Server      string `json:"server"`
	Description string `json:"description"`
	ReadOnly    bool   `json:"read_only"`
	Gate        bool   `json:"gate"`    // a call asks, or may ask
	Verdict     string `json:"verdict"` // run, ask or block; depends if it depends on the arguments
	Pinned      bool   `json:"pinned"`  // its server says what it said when the user accepted it, or it is built in
	Result      string `json:"result"`  // structured if its server describes the result, else content
}

// verdictDepends is the verdict for tools whose rules look at arguments.
const verdictDepends = "depends"

// withCatalogue starts the servers, calls a function with their tools and stops
// them. It tells the troubles of the server of a name, of all for "".
func (o *options) withCatalogue(ctx context.Context, name string, do func(*services, plan.Catalogue) error) (err error) {
	w := &services{}
	defer func() { err = errors.Join(err, exit.Wrap("end in order", w.close())) }()
	logger, err := w.openLog(o.store.Dirs.Logs())
	if err != nil {
		return err
	}
	if err := w.openTools(ctx, o, opening{trust: mcpclient.TrustNone}, logger); err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, w.toolsWithin(nil))
	defer cancel()
	catalogue, awaited := w.tools.ReadyFor(within, []string{"*:*"})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	server := w.serverOf(name, catalogue)
	o.printNotes(w.ignored(server))
	o.printTroubles(w, server, awaited)
	o.printNotes(mcpclient.NotesOn(w.tools, server))
	return do(w, catalogue)
}

// rules returns the rules that decide about calls of tools here.
func (o *options) rules() []rule.Rule {
	return slices.Concat(o.Rules, policy.BuiltIn(policy.Trust{Workspace: o.Trusted}))
}

// lineOf describes a tool in a line.
func (o *options) lineOf(t plan.Tool) toolLine {
	line := toolLine{Name: t.Name, Server: t.Server, Description: t.Description, ReadOnly: t.ReadOnly, Pinned: t.Changed == "", Result: "content"}
	if len(t.OutputSchema) > 0 {
		line.Result = "structured"
	}
	for _, r := range rule.Matching(o.rules(), t) {
		if line.Gate = line.Gate || r.Verdict == rule.VerdictAsk; line.Verdict != "" && line.Verdict != string(r.Verdict) {
			line.Verdict = verdictDepends
			continue
		}
		line.Verdict = string(r.Verdict)
	}
	if !line.Pinned && line.Verdict != string(rule.VerdictBlock) {
		line.Verdict = string(rule.ChangedTool(t).Verdict)
		line.Gate = line.Verdict == string(rule.VerdictAsk)
	}
	return line
}

// listTools implements replan tools list.
func (o *options) listTools(_ *services, catalogue plan.Catalogue) error {
	lines := []toolLine{}
	for _, t := range catalogue {
		lines = append(lines, o.lineOf(t))
	}
	if o.Output == config.OutputJSON {
		return o.printJSON(lines)
	}
	return o.print(o.toolsText(lines))
}

// toolsText lists tools: as a table for people, and as whole values for programs.
func (o *options) toolsText(lines []toolLine) string {
	t := o.tty()
	var rows [][]string
	list := tty.Listing{Heads: []string{"tool", "server", "calls", "description"}, Wide: 3}
	for _, l := range lines {
		mark := map[string]string{string(rule.VerdictAsk): "asks", string(rule.VerdictBlock): "denied", verdictDepends: "depends"}[l.Verdict]
		if !l.Pinned {
			mark = "changed"
		}
		if t == nil {
			rows = append(rows, []string{l.Name, l.Server, mark, l.Description})
			continue
		}
		style := map[string]lipgloss.Style{string(rule.VerdictAsk): t.Look.Warning, string(rule.VerdictBlock): t.Look.Danger}[l.Verdict]
		list.Rows = append(list.Rows, []tty.Cell{
			{Text: l.Name, Style: t.Look.Accent}, {Text: l.Server, Style: t.Look.Muted}, {Text: mark, Style: style}, {Text: l.Description, Style: t.Look.Text},
		})
	}
	if t == nil {
		return tty.Tabs(rows)
	}
	return t.List(list)
}

func newToolsShow(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "show NAME",
		Short: "Show what a tool does, its arguments, its result and whether it asks",
		Long: "show NAME describes a tool: its arguments, the fields of its result if its server names them, the rules that\n" +
			"decide whether a call asks, and an example. With --output json it prints the schemas.",
		Example: "  replan tools show fs.search\n  replan tools show vcs.commit --output json",
		Args:    positional(one("NAME")),
		RunE: func(cmd *cobra.Command, names []string) error {
			return o.withCatalogue(cmd.Context(), names[0], func(_ *services, catalogue plan.Catalogue) error {
				t, err := catalogue.Find(names[0])
				if err != nil {
					return &exit.Error{Status: exit.BadUsage, Code: plan.CodeUnknownTool, Err: err}
				}
				return o.showTool(t)
			})
		},
	}
}

func newToolsAccept(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "accept SERVER[:TOOL]",
		Short: "Show what a server has changed in its tools, and accept it",
		Long: "accept prints how the descriptions, arguments, results and hints of a server's tools, or of one tool, differ from\n" +
			"those that you used first or accepted last, and its instructions. Then it asks whether to use them from now on.\n" +
			"Until then models do not see what has changed. --approve all accepts without a question.",
		Example: "  replan tools accept github\n  replan tools accept github:search --approve all",
		Args:    positional(one("SERVER")),
		RunE: func(cmd *cobra.Command, names []string) error {
			return o.withCatalogue(cmd.Context(), names[0], func(w *services, all plan.Catalogue) error {
				return o.acceptTools(cmd.Context(), w, all, names[0])
			})
		},
	}
}

// acceptTools implements replan tools accept.
func (o *options) acceptTools(ctx context.Context, w *services, all plan.Catalogue, name string) error {
	server, tool, _ := strings.Cut(name, ":")
	servers := w.tools.Status()
	at := slices.IndexFunc(servers, func(s plan.ServerStatus) bool { return s.Name == server })
	isTool := func(t plan.Tool) bool { return t.Server == server && t.Name == tool }
	switch {
	case at < 0:
		return exit.Usage("there is no MCP server %q: name one as replan tools list does, or SERVER:TOOL", server)
	case servers[at].State != plan.ServerReady:
		return &exit.Error{Status: exit.Failed, Code: "failed", Err: fmt.Errorf("what the server %s says now is not known, since it is not ready", server)}
	case tool != "" && !slices.ContainsFunc(all, isTool):
		return &exit.Error{Status: exit.BadUsage, Code: plan.CodeUnknownTool, Err: fmt.Errorf("the server %s offers no tool %q", server, tool)}
	}
	changes := slices.DeleteFunc(w.tools.Changes(), func(c plan.ServerChange) bool { return c.Server != server || tool != "" && c.Tool != tool })
	if len(changes) == 0 && o.Output != config.OutputJSON {
		return o.print("nothing has changed: " + name + " is as you accepted it\n")
	}
	if o.Output != config.OutputJSON {
		if err := o.printChanges(changes); err != nil {
			return err
		}
	}
	yes := len(changes) == 0
	if !yes {
		var err error
		if yes, err = o.agrees(ctx, fmt.Sprintf("use %s as they are now? [y]es, [n]o: ", english.Count(len(changes), "changed text"))); err != nil {
			return err
		}
	}
	if !yes {
		return &exit.Error{Status: event.ReasonDenied.ExitCode(), Code: "not_accepted", Err: errors.New("nothing was accepted: answer yes on a terminal, or add --approve all")}
	}
	for _, c := range changes {
		if err := w.tools.Accept(ctx, c); err != nil {
			return exit.Wrap("accept what has changed", err)
		}
	}
	if o.Output == config.OutputJSON {
		accepted := []acceptedLine{}
		for _, c := range changes {
			accepted = append(accepted, acceptedLine{Server: c.Server, Tool: c.Tool, Diff: c.Diff})
		}
		return o.printJSON(struct {
			Accepted []acceptedLine `json:"accepted"`
		}{accepted})
	}
	return o.print("accepted " + english.Count(len(changes), "change") + " of " + server + "\n")
}

// acceptedLine is an accepted change in the output of replan tools accept.
type acceptedLine struct {
	Server string         `json:"server"`
	Tool   string         `json:"tool"` // bare name; empty for the server's instructions
	Diff   untrusted.Text `json:"diff"`
}

// printChanges prints what servers have changed.
func (o *options) printChanges(changes []plan.ServerChange) error {
	return o.printed(func(p *plain.Printer) {
		for _, c := range changes {
			heading := "the instructions of " + c.Server
			if c.Tool != "" {
				heading = c.Server + ":" + c.Tool
			}
			p.Heading(untrusted.Line(heading))
			p.Block("  ", strings.TrimRight(c.Diff.Visible(), "\n"), 0)
		}
	})
}

// agrees asks a question of yes or no on a terminal. Elsewhere only --approve all is
// a yes.
func (o *options) agrees(ctx context.Context, question string) (bool, error) {
	switch {
	case o.ApproveText != "":
		return o.Approve == policy.ApproveAll, nil
	case !o.asks():
		return false, nil
	}
	input, err := ask.NewInput(o.io.In, o.io.Quiet)
	if err != nil {
		return false, exit.Wrap("read the answer", err)
	}
	yes, err := input.Confirm(ctx, o.coloured(o.io.Out), question, o.look())
	return yes, exit.Wrap(exit.Writing, err)
}

// contentShape is the value of a step whose tool does not describe its result.
const contentShape = `text, or JSON if the text is an object or array
with pictures or other files: {"text": "…", "files": [{"file", "type", "bytes", "sha256"}]}`

// showTool implements replan tools show.
func (o *options) showTool(t plan.Tool) error {
	line, rules := o.lineOf(t), []string{}
	for _, r := range rule.Matching(o.rules(), t) {
		rules = append(rules, telling.RuleWords(r))
	}
	if o.Output == config.OutputJSON {
		return o.printJSON(struct {
			toolLine
			Rules        []string        `json:"rules"`
			InputSchema  json.RawMessage `json:"input_schema,omitempty"`
			OutputSchema json.RawMessage `json:"output_schema,omitempty"`
		}{line, rules, t.InputSchema, t.OutputSchema})
	}
	args := toolschema.Fields(t.InputSchema)
	example := "replan tools call " + t.Name
	if given := toolschema.Example(args, string(t.Description)); len(given) > 0 {
		example += " --args '" + plan.CanonicalJSON(given) + "'"
	}
	return o.printed(func(p *plain.Printer) {
		p.Line("%s  %s", p.Strong(t.Name), p.Faint("(server %s)", t.Server))
		p.Line("%s", t.Description)
		p.Heading("arguments")
		o.writeFields(p, args)
		p.Heading("result")
		if len(t.OutputSchema) > 0 {
			o.writeFields(p, toolschema.Results(t.OutputSchema))
		} else {
			p.Block("  ", contentShape, 0)
		}
		p.Line("")
		for i, r := range rules {
			if i == 0 {
				p.Fields(plain.Field{Name: "policy", Value: r})
				continue
			}
			p.Line("        %s", r)
		}
		p.Fields(plain.Field{Name: "example", Value: example})
	})
}

// writeFields prints the fields of a schema: as a table, or on a terminal in lines
// that can be broken.
func (o *options) writeFields(p *plain.Printer, fields []toolschema.Field) {
	if o.tty() == nil || len(fields) == 0 {
		p.Block("", toolschema.Table(fields), 0)
		return
	}
	for _, f := range fields {
		kind := strings.TrimSuffix(f.Type+", "+f.Need(), ", ")
		if f.Description == "" {
			p.Line("  %s %s", p.Strong(f.Name+":"), p.Faint("%s", kind))
			continue
		}
		p.Line("  %s %s  %s", p.Strong(f.Name+":"), f.Description, p.Faint("(%s)", kind))
	}
}
