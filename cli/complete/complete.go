package complete

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/ollama"
	"replan/agent/session"
	"replan/agent/store"
	"replan/cli/config"
	"replan/cli/help"
	runlist "replan/cli/runs"
	"replan/cli/serve"
	"replan/internal/english"
	"replan/internal/untrusted"
	mcpconfig "replan/mcpclient/config"
	"replan/planning/plan"
	"replan/tui/wording"
)

// Limits of what is offered, and of the wait for the names of models: a shell
// shows nothing meanwhile.
const (
	mostRuns     = 50
	modelsWithin = 500 * time.Millisecond
)

// New returns the command that prints the completion script of a shell.
func New() *cobra.Command {
	return &cobra.Command{
		Use: "completion SHELL", Short: "Print the completion script of a shell", ValidArgs: shells(),
		Long: "completion prints a script that completes commands, flags, runs, plans, tools and models in bash, zsh, fish or\n" +
			"powershell. Load it in the shell's start file, or write it where the shell looks for completions.",
		Example: "  replan completion bash > ~/.local/share/bash-completion/completions/replan\n  replan completion zsh > \"${fpath[1]}/_replan\"\n" +
			"  replan completion fish > ~/.config/fish/completions/replan.fish\n  replan completion powershell | Out-String | Invoke-Expression",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) != 1:
				return fmt.Errorf("name one shell: %s", english.List(shells(), "or"))
			case !slices.Contains(shells(), args[0]):
				return fmt.Errorf("there is no completion for the shell %q%s", args[0], cmp.Or(english.DidYouMean(args[0], shells()), "; name "+english.List(shells(), "or")))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), cmd.OutOrStdout()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			default:
				return root.GenPowerShellCompletionWithDesc(out)
			}
		},
	}
}

func shells() []string { return []string{"bash", "zsh", "fish", "powershell"} }

// Source is what completions come from, after the flags of the line were read.
type Source struct {
	Folders    config.Folders
	Appearance config.Appearance
	Profiles   []string
	Settings   func() []session.Setting
	Host       string // of the models
	Store      *store.Store
	Now        time.Time
}

// Open reads the settings for a command line; an error means no completions.
type Open func(*cobra.Command) (Source, error)

// choices is a function that offers words, each with a description after a tab.
type choices func(ctx context.Context, s Source) []string

// Register completes the arguments and flags of a command and of those below it. Commands say in
// their usage line what they take: RUN, ID, FILE or NAME.
func Register(cmd *cobra.Command, open Open) error {
	flags := map[string]choices{
		"model": models, "planner-model": models, "theme": themes, "profile": profiles, "planner": fixed(event.PlannerKinds()...),
		"think":   fixed("auto", "off", "on", "low", "medium", "high"),
		"approve": fixed("none\tno gate", "safe\tfiles here, and tests", "contained\tand programs in the box", "all\tevery gate"),
		"output":  fixed(config.OutputText, config.OutputJSON), "limits": fixed("default", "strict"),
		"on-failure": fixed("abort", "skip", "replan"), "in-doubt": fixed("ask", "rerun", "done", "abort"),
		"sort": fixed(runlist.Orders()...),
		"http": fixed(serve.DefaultAddress + "\tthis machine alone"),
	}
	var failed error
	declared := func(f *pflag.Flag) {
		offer, ok := flags[f.Name]
		if !ok || f.Value.Type() != "string" {
			return
		}
		if err := cmd.RegisterFlagCompletionFunc(f.Name, offers(open, false, offer)); err != nil && failed == nil {
			failed = fmt.Errorf("complete --%s: %w", f.Name, err)
		}
	}
	cmd.LocalFlags().VisitAll(declared)
	_, takes, _ := strings.Cut(cmd.Use, " ")
	switch strings.Trim(takes, "[].") {
	case "RUN":
		if strings.HasPrefix(cmd.CommandPath(), "replan plan") {
			cmd.ValidArgsFunction = offers(open, false, runs, plans)
		} else {
			cmd.ValidArgsFunction = offers(open, false, runs)
		}
	case "ID":
		cmd.ValidArgsFunction = offers(open, false, plans)
	case "ID|FILE":
		cmd.ValidArgsFunction = offers(open, true, plans)
	case "NAME":
		cmd.ValidArgsFunction = offers(open, false, tools)
	case "SERVER":
		cmd.ValidArgsFunction = offers(open, false, servers)
	case "PROGRAM|FILE":
		cmd.ValidArgsFunction = offers(open, true, fixed(mcpconfig.Programs()...))
	case "MODEL":
		cmd.ValidArgsFunction = offers(open, false, models)
	case "KEY":
		cmd.ValidArgsFunction = offers(open, false, settings)
	case "KEY VALUE":
		cmd.ValidArgsFunction = settingAndValue(open)
	case "GOAL", "WORDS", "":
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	for _, below := range cmd.Commands() {
		if err := Register(below, open); failed == nil {
			failed = err
		}
	}
	return failed
}

// offers returns the completion function of one argument or value.
func offers(open Open, files bool, from ...choices) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		directive := cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		if files {
			directive = cobra.ShellCompDirectiveKeepOrder
		}
		source, err := open(cmd)
		if err != nil {
			return nil, directive
		}
		var words []string
		for _, choices := range from {
			words = append(words, choices(cmd.Context(), source)...)
		}
		return slices.DeleteFunc(words, func(word string) bool { return !strings.HasPrefix(word, toComplete) }), directive
	}
}

// described returns a word with its description, which is text from outside.
func described(word string, text untrusted.Text) string {
	return word + "\t" + wording.Excerpt(text, 60)
}

func fixed(words ...string) choices {
	return func(context.Context, Source) []string { return words }
}

// runs offers the newest runs by the ids that the screen shows.
func runs(_ context.Context, s Source) []string {
	list, _ := s.Store.RunSummaries()
	list = slices.DeleteFunc(list, func(r agent.Summary) bool { return r.PlanOnly })
	words := []string{}
	for i, r := range list[:min(len(list), mostRuns)] {
		if i == 0 {
			words = append(words, "last\tthe newest run of this folder")
		}
		words = append(words, described(wording.ShortID(r.Run), untrusted.Text(ago(s.Now.Sub(r.Started))+", ")+config.First(r.Goal, r.Title)))
	}
	return words
}

// ago describes an age in its largest unit.
func ago(age time.Duration) string {
	switch {
	case age < time.Minute:
		return "now"
	case age < time.Hour:
		return fmt.Sprintf("%dm ago", age/time.Minute)
	case age < 24*time.Hour:
		return fmt.Sprintf("%dh ago", age/time.Hour)
	default:
		return fmt.Sprintf("%dd ago", age/(24*time.Hour))
	}
}

func plans(_ context.Context, s Source) []string {
	list, _ := s.Store.Plans.List()
	words := []string{}
	for _, p := range list {
		if p.Error == nil {
			words = append(words, described(p.ID, untrusted.Text(p.Title)))
		}
	}
	return words
}

// tools offers the built-in tools. The others are known only to their servers,
// which take too long to start.
func tools(context.Context, Source) []string { return plan.OperatorNames() }

// servers offers the servers of the user's and the project's files.
func servers(_ context.Context, s Source) []string {
	own, _ := mcpconfig.Read(s.Folders.Dirs.MCPServers(), mcpconfig.SourceUser, s.Folders.Workspace)
	project, _, _ := mcpconfig.ReadProject(s.Folders.Workspace, xdg.Home, nil)
	words := []string{}
	for _, server := range mcpconfig.Chosen(append(own, project...)) {
		words = append(words, described(server.Name, untrusted.Text(server.Source.String())))
	}
	return words
}

func themes(_ context.Context, s Source) []string {
	words := []string{}
	for _, name := range s.Appearance.Themes().Names() {
		words = append(words, string(name))
	}
	return words
}

func profiles(_ context.Context, s Source) []string { return s.Profiles }

// models offers the installed models, if Ollama answers soon.
func models(ctx context.Context, s Source) []string {
	client, err := ollama.New(ollama.Config{Host: s.Host})
	if err != nil {
		return nil
	}
	defer client.Close() //nolint:errcheck // only read
	ctx, cancel := context.WithTimeout(ctx, modelsWithin)
	defer cancel()
	list, _ := client.Models(ctx)
	words := []string{}
	for _, m := range list {
		words = append(words, described(m.Name, untrusted.Text(wording.Abilities(m))))
	}
	return words
}

// Hide hides the flags that mean nothing to the command of a line to complete.
// args are those of the program.
func Hide(root *cobra.Command, args []string) {
	if len(args) < 2 || !strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		return
	}
	cmd, _, err := root.Find(args[1 : len(args)-1])
	if err != nil {
		return
	}
	hide := func(f *pflag.Flag) { f.Hidden = f.Hidden || !help.Concerns(cmd, f) && f.Name != "help" }
	cmd.Flags().VisitAll(hide)
	cmd.InheritedFlags().VisitAll(hide)
}
