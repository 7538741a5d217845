package runner

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/rule"
	"replan/agent/session"
	"replan/planning/intent"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// Config configures a session. Its fields stand by the part of the session that takes
// them. Model, Tools, Store and NewID must be set.
type Config struct {
	Model     Model
	Tools     Tools
	Store     Store
	Workspace string      // absolute path of the working folder
	Copy      WorkingCopy // where runs work; nil is the workspace itself
	// Restored is the session to continue; nil starts a new one.
	Restored *Restored

	// What the user types.

	// InputHelp helps the user write; nil disables it.
	InputHelp InputHelp
	// Slash carries out a line that begins with a slash, such as /plan list.
	Slash func(ctx context.Context, line string, now SlashState) (Answer, error)

	// What goals are planned and runs are started with.

	Prompting prompt.Prompting // without the conversation, which the session maintains
	Profiles  []Profile        // for the user to choose from
	Profile   string           // the initial one of Profiles; "" is none
	Routing   event.Routing    // who plans a goal, and how words alone can
	// Survey searches the workspace for the names in a goal; nil finds nothing. A goal of ""
	// is one that is being typed: it prepares the search for the next goal.
	Survey func(ctx context.Context, goal string) intent.Facts
	// Dirty counts the files with uncommitted changes in the workspace, 0 if
	// unknown; nil skips the count.
	Dirty func(ctx context.Context) int
	// EndLeft ends the leftover process group of a resumed run whose program was
	// killed. It describes what it ended and returns "" if nothing was running.
	// nil ends nothing.
	EndLeft func(ctx context.Context, left event.StepProcess) string
	// ReadyWithin bounds how long a run waits for servers whose tools its plan
	// names, unless one of them may take longer to start. GoalWithin bounds how long
	// a goal waits for servers that it may need. 0 means [plan.MaxServerWait] and 2 s.
	ReadyWithin, GoalWithin time.Duration
	// Warm warms the model once the tools are known, and after each run: the user is about
	// to type a goal. Without it only [session.Warm] does.
	Warm bool

	// How much runs may use.

	Limits        event.Limits
	SessionLimits event.SessionLimits             // for all runs of the session together
	Raise         func(event.Limits) event.Limits // adjusts the journaled limits on resume; nil keeps them

	// What runs may do, and who answers their questions.

	Rules     []rule.Rule // flags first, then the configuration's; the built-in ones follow
	Trusted   bool        // the user trusts the workspace, so its tests may run
	Delegated bool        // goals and plans come from another program, so they let no tests run
	// Remember saves a rule that the user always allows, for later sessions; nil
	// disables such rules.
	Remember  func(event.Always) error
	Approve   policy.Approve      // how gates are answered; the zero value asks
	Attended  bool                // a user can answer questions, including those about doubts and failed steps
	InDoubt   event.DoubtDecision // the answer for steps in doubt if no user can be asked; "" is abort
	OnFailure plan.OnFailure      // default for the failed steps of a goal's plan; "" leaves it to the planner, else replan
	Review    bool                // hold plans for review before they run
	Reviewer  bool                // a user can review plans; otherwise held plans are refused
	// OpenPage opens a web page in the user's browser; nil if there is none.
	OpenPage func(url string) error

	// How runs are carried out.

	// Admit waits until a call of a tool may begin, which calls end when it has ended.
	// The wait is no time of the call. nil admits all at once.
	Admit           func(ctx context.Context, t plan.Tool) (end func(), err error)
	RequireVerified bool // a run with less than verified evidence fails
	DryRun          bool // resolve and report steps, but call nothing
	// Crashed reports a panic of a model, a tool or the core and describes it. Its
	// step, or the run, then fails; nil lets the panic end the program.
	Crashed func(value any, stack []byte) string
	// Undo reverts the changes of a run, or takes that back, or previews that with dry. The
	// run "" is the newest that changed files here, or for a redo the one undone last. A
	// refusal is part of the returned event. nil disables undo.
	Undo func(ctx context.Context, c session.Undo, dry bool) (event.Undo, error)

	// What the session shows and saves.

	Instructions string        // the file with the project's instructions, for display
	Host         string        // of the model server, for display
	Branch       func() string // of the workspace, "" if unknown; nil skips the lookup
	// Settings returns the settings in force and their sources; nil shows none.
	Settings func() session.Settings
	// SaveSetting saves a setting that the user chose, for later sessions, and returns the
	// file; "" if it is not saved here. A nil value removes the key. nil saves
	// nothing.
	SaveSetting func(key string, value *string) (file string, err error)

	NewID  func(now time.Time) string
	Now    func() time.Time // nil means time.Now
	Logger *slog.Logger     // nil means none
}

// Profile is a set of session settings that the user may choose.
type Profile struct {
	Name        string
	Description string           // one line
	Model       string           // "" is the session's
	Tools       []string         // patterns of the tools on offer, see prompt.Profile; nil is every tool
	BuiltIn     bool             // not written by the user: patterns that match no tool are fine
	Prompting   prompt.Prompting // replaces the session's
}

// SlashState is the state of a session when a slash command is typed.
type SlashState struct {
	Model string            // from the next run on, by the name it was chosen by; "" is the server's choice
	Think prompt.ThinkLevel // from the next run on
	Busy  bool              // a run is in progress or about to start
}

// Answer is the result of a slash command.
type Answer struct {
	Text string          // Markdown, shown in the chat; "" shows nothing
	Then session.Command // the next command: Submit, Create, Execute or Resume; nil is none
}

// Restored is a session to continue.
type Restored struct {
	ID      string
	Journal Journal       // open, contains Events
	Events  []event.Event // all earlier events
}

// completed returns the configuration with its defaults.
func (c Config) completed() Config {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.ReadyWithin, c.GoalWithin = cmp.Or(c.ReadyWithin, plan.MaxServerWait), cmp.Or(c.GoalWithin, 2*time.Second)
	return c
}
