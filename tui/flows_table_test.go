package tui_test

import (
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/tui"
	"replan/tui/panetest"
)

// flows holds a flow for each action, by its ID.
var flows = map[string]flow{
	// Everywhere.
	"palette":       {wants: "Commands"},
	"help":          {wants: "Everywhere"},
	"pane.next":     {focus: "plan"},
	"pane.previous": {focus: "step"},
	"gate":          {from: (*story).Gated, first: []string{"esc"}, wants: "allow once"},
	"gate.allowed":  {from: (*story).Gated, first: []string{"esc"}, wants: "tanding approvals"},
	"runs":          {wants: "Looking for runs", sends: asks("runs")},
	"models":        {wants: "Asking the server", sends: asks("models")},
	"exchanges":     {wants: "Exchanges with the model"},
	"plan.redo":     {from: (*story).Finished, wants: "Redo last undo", sends: asks("redo ")},
	"run.steer":     {first: []string{"@look at the tests too"}, lacks: "look at the tests too", sends: session.Steer{Text: "look at the tests too"}},
	"run.ask":       {first: []string{"@what is left?"}, wants: "/ask what is left?"},
	"run.stop":      {wants: "stopping", sends: session.Stop{}},
	"quit":          {from: (*story).Greeted, quits: true},
	"replay.quit":   {from: (*story).Finished, o: tui.Options{Replay: true}, quits: true},
	"quit.yes":      {first: []string{"ctrl+c"}, quits: true},
	"quit.no":       {first: []string{"ctrl+c"}, lacks: "Stop it and quit?"},

	// Chat.
	"chat.send":        {from: (*story).Greeted, first: []string{"@run the tests"}, wants: "Describe a goal, or / for commands", sends: session.Submit{Text: "run the tests"}},
	"chat.shell":       {from: (*story).Greeted, wants: "Type a command for the shell"},
	"chat.new_line":    {from: (*story).Greeted, first: []string{"@one"}, moves: true},
	"chat.before":      {from: (*story).Finished, lacks: "Describe a goal, or / for commands"},
	"chat.after":       {from: (*story).Finished, first: []string{"up"}, wants: "Describe a goal, or / for commands"},
	"chat.history":     {from: (*story).Finished, wants: "history ›"},
	"chat.editor":      {wants: "No editor is set"},
	"chat.paste":       {from: (*story).Greeted, wants: "This session takes no pictures."},
	"chat.open_paste":  {from: (*story).Greeted, paste: strings.Repeat("one more line\n", 40), lacks: "[pasted"},
	"servers.skip":     {events: []any{session.Queue{Doing: "a goal", Servers: []string{"everything"}}}, sends: session.SkipServers{}},
	"chat.drop_queued": {events: []any{session.Queue{Waiting: []string{"one"}, Jobs: []session.QueuedJob{{ID: 3, Text: "one"}}}}, wants: "Removed from the queue: one", sends: session.Unqueue{ID: 3}},
	"list.take":        {from: (*story).Greeted, first: []string{"@see @slug"}, events: []any{panetest.SomeFiles()}, wants: "see @internal/slug.go "},
	"chat.top":         {from: (*story).Long, wants: "below"},
	"chat.bottom":      {from: (*story).Long, first: []string{"ctrl+home"}, lacks: "below"},
	"chat.export":      {from: (*story).Finished, sends: session.Submit{Text: "/export"}},
	"chat.end":         {from: (*story).Greeted, quits: true},

	"chat.order_1": {from: (*story).Greeted, events: refused, sends: session.Submit{Text: "find where Lookup is defined"}},
	"chat.order_2": {from: (*story).Greeted, events: refused, sends: session.Submit{Text: "where is Lookup used"}},
	"chat.order_3": {from: (*story).Greeted, events: refused, sends: session.Submit{Text: "find Lookup"}},

	"chat.get_model": {from: (*story).Greeted, events: unfit, wants: "Asking the server", sends: session.Pull{Model: "qwen3:4b"}},

	// Writing.

	// Plan.
	"plan.open":     {first: []string{"tab"}, focus: "step"},
	"plan.cancel":   {first: []string{"tab"}, wants: "is being canceled", sends: session.Cancel{Run: panetest.StoryRun, Step: "2"}},
	"plan.follow":   {first: []string{"tab", "g"}, wants: "▌├─⠋"},
	"plan.undo":     {from: (*story).Finished, first: []string{"tab"}, wants: "Undo", sends: asks("undo ")},
	"plan.args":     {from: (*story).Finished, first: []string{"tab", "2"}, wants: "does "},
	"plan.output":   {from: (*story).Finished, first: []string{"tab", "1"}, lacks: "does "},
	"plan.diff":     {from: (*story).Finished, first: []string{"tab", "g", "1"}, wants: "No changes to files"},
	"plan.gate":     {from: (*story).Gated, first: []string{"esc", "tab", "g"}, wants: "▌◆─╯"},
	"plan.failure":  {from: (*story).Revised, first: []string{"esc", "tab", "g"}, wants: "▌− │   ✗ 5"},
	"plan.running":  {first: []string{"tab", "g"}, wants: "▌├─⠋"},
	"plan.fold":     {from: (*story).Exploring, first: []string{"tab"}, wants: "▾ 3 calls"},
	"plan.fold_all": {from: (*story).Exploring, first: []string{"tab"}, wants: "▾ 3 calls"},

	// The plan as a graph.
	"plan.map":       {first: []string{"tab"}, lacks: "Chat ─"},
	"plan.graph":     {first: []string{"tab"}, wants: "The plan is shown as a graph."},
	"plan.left":      {first: []string{"tab", "m", "right"}, wants: "┃ ⠋ 2"},
	"plan.right":     {first: []string{"tab", "m"}, wants: "┃ ⠋ 3"},
	"plan.pan_left":  {first: []string{"tab", "g", "b", "]", "]", "L"}, moves: true},
	"plan.pan_right": {first: []string{"tab", "g", "b", "]", "]"}, moves: true},
	"plan.pan_up":    {first: []string{"tab", "g", "b", "]", "]", "J"}, moves: true},
	"plan.pan_down":  {first: []string{"tab", "g", "b", "]", "]"}, moves: true},
	"plan.zoom_in":   {first: []string{"tab", "m", "["}, wants: "fs.search"},
	"plan.zoom_out":  {first: []string{"tab", "m"}, wants: "[⠋ 3"},

	// Step.
	"step.next_tab":     {from: (*story).Finished, first: []string{"tab", "tab", "1"}, lacks: "does "},
	"step.previous_tab": {from: (*story).Finished, first: []string{"tab", "tab", "2"}, wants: "does "},

	// Gate.
	"gate.once":   {from: (*story).Gated, first: []string{"pgdown", "pgdown"}, lacks: "allow once", sends: session.Resolve{Run: panetest.StoryRun, Gate: "4.1.1", Decision: event.Allow, Scope: event.ScopeOnce}},
	"gate.run":    {from: (*story).Gated, first: []string{"pgdown", "pgdown"}, lacks: "allow once", sends: session.Resolve{Run: panetest.StoryRun, Gate: "4.1.1", Decision: event.Allow, Scope: event.ScopeRun}},
	"gate.always": {from: (*story).Revised, wants: "[[policy]]"},
	"gate.deny":   {from: (*story).Gated, wants: "why not?"},
	"gate.refuse": {from: (*story).Gated, first: []string{"n"}, lacks: "why not?", sends: session.Resolve{Run: panetest.StoryRun, Gate: "4.1.1", Decision: event.Deny, Scope: event.ScopeOnce}},
	"gate.edit":   {from: (*story).Gated, wants: "Edit arguments"},

	// Questions.
	"question.done":           {from: (*story).Resumed, sends: session.ResolveDoubt{Run: panetest.StoryPlanRun, Step: "3", Decision: event.DoubtDone}},
	"question.rerun":          {from: (*story).Resumed, sends: session.ResolveDoubt{Run: panetest.StoryPlanRun, Step: "3", Decision: event.DoubtRerun}},
	"question.retry":          {from: (*story).Failing, sends: session.ResolveFailure{Run: panetest.StoryPlanRun, Step: "3", Decision: event.FailureRetry}},
	"question.skip":           {from: (*story).Failing, sends: session.ResolveFailure{Run: panetest.StoryPlanRun, Step: "3", Decision: event.FailureSkip}},
	"question.replan":         {from: (*story).Failing, sends: session.ResolveFailure{Run: panetest.StoryPlanRun, Step: "3", Decision: event.FailureReplan}},
	"question.abort":          {from: (*story).Failing, sends: session.ResolveFailure{Run: panetest.StoryPlanRun, Step: "3", Decision: event.FailureAbort}},
	"question.edit":           {from: (*story).Failing, wants: "Edit arguments"},
	"question.undo_edit":      {from: (*story).Gated, first: []string{"e", "@x"}, lacks: "xtrue"},
	"question.next_field":     {from: (*story).Gated, first: []string{"e"}, wants: "all   true"},
	"question.previous_field": {from: (*story).Gated, first: []string{"e", "tab"}, lacks: "all   true"},
	"question.send": {from: (*story).Gated, first: []string{"e", "shift+tab"}, paste: "pkg/", lacks: "Edit arguments", sends: session.Edit{Run: panetest.StoryRun, Gate: "4.1.1", Args: map[string]any{
		"all": true, "path": "pkg/auth/handler.go",
		"new": "func verifyUser(ctx context.Context, token string) (User, error) {", "old": "func authenticate(ctx context.Context, token string) (User, error) {",
	}}},

	// The review of a plan.
	"review.next":        {sends: session.Hold{On: true}},
	"review.run":         {from: (*story).Reviewing, lacks: "No edits yet.", sends: session.Review{Run: panetest.StoryRun, Answer: agent.ReviewAnswer{Revision: 1, Decision: event.ReviewRun}}},
	"review.refuse":      {from: (*story).Reviewing, wants: "Refuse this plan?"},
	"review.edit":        {from: (*story).Reviewing, wants: "Edit step 1"},
	"review.acceptance":  {from: (*story).Reviewing, wants: "Edit the acceptance"},
	"review.take_out":    {from: (*story).Reviewing, first: []string{"G"}, wants: "1 out"},
	"review.move_up":     {from: (*story).Reviewing, first: []string{"down"}, wants: "1 moved"},
	"review.move_down":   {from: (*story).Reviewing, wants: "1 moved"},
	"review.approve":     {from: (*story).Reviewing, first: []string{"down"}, wants: "1 gate approved"},
	"review.approve_all": {from: (*story).Reviewing, wants: "1 gate approved"},
	"review.undo":        {from: (*story).Reviewing, first: []string{"A"}, wants: "No edits yet."},

	// Moving.
	"move.up":        {first: []string{"tab", "down"}, wants: "▌├─⠋ 2"},
	"move.down":      {first: []string{"tab", "g"}, wants: "▌├─⠋"},
	"move.first":     {first: []string{"tab"}, wants: "▌✓   1"},
	"move.last":      {first: []string{"tab"}, wants: "▌◦   6"},
	"move.page_up":   {first: []string{"tab", "G"}, wants: "▌✓   1"},
	"move.page_down": {first: []string{"tab", "g"}, wants: "▌◦   6"},
	"move.half_up":   {first: []string{"tab", "G"}, wants: "▌✓   1"},
	"move.half_down": {first: []string{"tab", "g"}, wants: "▌◦   6"},

	// Dialogs.
	"dialog.leave":       {from: (*story).Listed, first: []string{"ctrl+r"}, lacks: "esc close"},
	"list.up":            {from: (*story).Choosing, first: []string{"ctrl+o"}, events: []any{someModels()}, then: []string{"down"}, wants: "▌✓ qwen3:8b"},
	"list.down":          {from: (*story).Choosing, first: []string{"ctrl+o"}, events: []any{someModels()}, wants: "▌  hf.co"},
	"list.choose":        {from: (*story).Choosing, first: []string{"ctrl+k", "@requests"}, wants: "Exchanges with"},
	"list.other":         {from: (*story).Choosing, first: []string{"ctrl+o"}, wants: "session's own settings"},
	"list.erase":         {first: []string{"ctrl+k", "@xq"}, wants: "› x▌"},
	"models.think_more":  {from: (*story).Choosing, first: []string{"ctrl+o"}, events: []any{someModels()}, moves: true},
	"models.think_less":  {from: (*story).Choosing, first: []string{"ctrl+o"}, events: []any{someModels()}, then: []string{"right"}, moves: true},
	"models.pull":        {wants: "a name from ollama.com/search", sends: asks("models")},
	"models.cancel_pull": {first: []string{"ctrl+o"}, events: []any{session.PullProgress{Model: "tiny"}}, sends: session.CancelPull{}},
	"models.plan_with":   {from: (*story).Choosing, first: []string{"ctrl+o"}, events: []any{someModels()}, then: []string{"down"}, lacks: "type to search"},
	"models.remove":      {from: (*story).Choosing, first: []string{"ctrl+o"}, events: []any{someModels()}, wants: "Remove qwen3:8b (5.2 GB)? y/n"},
	"undo.put_back":      {from: (*story).Finished, first: []string{"tab", "u"}, events: []any{panetest.Undo()}, sends: session.Undo{Run: panetest.StoryRun}},

	"changes.choose": {from: (*story).Finished, events: []any{oneChange()}, then: []string{"~"}, wants: "[ ] a.txt"},
	"changes.take":   {from: (*story).Finished, events: []any{oneChange()}, then: []string{"~"}, sends: session.SettleChanges{Choice: event.ChangesChoice{Offer: "1", All: true, Files: map[string]event.FileChoice{"a.txt": {All: true}}}}},
	"changes.drop":   {from: (*story).Finished, events: []any{oneChange()}, then: []string{"~", "D"}, sends: session.SettleChanges{Choice: event.ChangesChoice{Offer: "1"}}},

	// Looking around.
	"revisions":                {from: (*story).Finished, wants: "evision"},
	"themes":                   {wants: "Themes"},
	"pane.zoom":                {from: (*story).Finished, lacks: "Plan ·"},
	"pane.narrower":            {from: (*story).Finished, moves: true},
	"pane.wider":               {from: (*story).Finished, moves: true},
	"pane.lower":               {from: (*story).Finished, moves: true},
	"pane.taller":              {from: (*story).Finished, moves: true},
	"look":                     {from: (*story).Greeted, sends: session.Recheck{}},
	"servers":                  {wants: "Tool servers"},
	"chat.search":              {from: (*story).Finished, wants: "type what to find"},
	"chat.copy":                {from: (*story).Finished, wants: "clipboard"},
	"chat.cited":               {from: func(s *story) *story { return s.Answering().Run(event.SynthesisCompleted{Text: "All tests pass [3]."}) }, wants: "Step 3 "},
	"chat.thinking":            {from: (*story).Asked, wants: "▾ thinking"},
	"chat.thinking_all":        {from: (*story).Asked, wants: "▾ thinking"},
	"chat.unfold":              {from: (*story).Calling, wants: "failed ▾"},
	"plan.filter":              {first: []string{"tab"}, wants: "status:failed"},
	"plan.next_match":          {first: []string{"tab", "/", "@read", "enter"}, wants: "Step 3 ·"},
	"plan.previous_match":      {first: []string{"tab", "/", "@read", "enter"}, wants: "Step 3 ·"},
	"plan.story":               {from: (*story).Finished, first: []string{"tab", "g"}, wants: "attempt 1"},
	"plan.timing":              {from: (*story).Finished, first: []string{"tab", "g"}, wants: "altogether"},
	"plan.copy":                {from: (*story).Finished, first: []string{"tab", "g"}, wants: "clipboard"},
	"plan.file":                {from: (*story).Finished, first: []string{"tab", "g"}, wants: "The result of this step has no files."},
	"plan.timeline":            {from: (*story).Finished, first: []string{"tab"}, wants: "total "},
	"plan.revisions":           {from: (*story).Finished, first: []string{"tab"}, wants: "evision"},
	"diff.sides":               {from: (*story).Finished, first: []string{"tab", "g", "down", "down", "down", "3", "tab"}, wants: "Side by side needs 60 columns"},
	"gate.all":                 {from: (*story).Crowded, wants: "Approve all similar calls"},
	"gate.leave_out":           {from: (*story).Crowded, moves: true},
	"gate.next":                {from: (*story).Crowded, wants: "Gate 2 of 5"},
	"gate.previous":            {from: (*story).Crowded, wants: "Gate 5 of 5"},
	"gate.editor":              {from: (*story).Gated, wants: "No editor is set"},
	"gate.details":             {from: (*story).Gated, wants: "why it asks"},
	"gate.next_hunk":           {from: changesManyFiles, first: []string{"]"}, wants: "second of a.go"},
	"gate.previous_hunk":       {from: changesManyFiles, first: []string{"}", "}", "}"}, wants: "second of b.go"},
	"gate.next_file":           {from: changesManyFiles, first: []string{"}"}, wants: "first of b.go"},
	"gate.previous_file":       {from: changesManyFiles, first: []string{"}", "}", "}"}, wants: "first of b.go"},
	"gate.sides":               {from: (*story).Gated, wants: "│ 12  // ServeHTTP answers one request."},
	"search.next":              {from: (*story).Finished, first: []string{"ctrl+f", "@auth"}, wants: "2 of 6"},
	"search.previous":          {from: (*story).Finished, first: []string{"ctrl+f", "@auth"}, wants: "6 of 6"},
	"runs.play":                {first: []string{"ctrl+r"}, events: []any{[]agent.Summary{{Run: "r-1", Goal: "old"}}}, sends: asks("journal r-1"), wants: "Reading its journal"},
	"runs.show":                {first: []string{"ctrl+r"}, events: []any{[]agent.Summary{{Run: "r-1", Goal: "old"}}}, sends: asks("journal r-1"), wants: "Reading its journal"},
	"runs.status":              {from: (*story).Listed, first: []string{"ctrl+r"}, wants: "status unfinished"},
	"list.folders":             {first: []string{"ctrl+r"}, wants: "of all folders"},
	"list.search":              {first: []string{"ctrl+r"}, wants: "show all"},
	"replay.pause":             {o: tui.Options{Replay: true, Recorded: session.ReplayEvents(panetest.StoryRun, recorded()), Speed: 1}, wants: "space play"},
	"replay.faster":            {o: tui.Options{Replay: true, Recorded: session.ReplayEvents(panetest.StoryRun, recorded()), Speed: 1}, first: []string{"space"}, wants: "2x"},
	"replay.slower":            {o: tui.Options{Replay: true, Recorded: session.ReplayEvents(panetest.StoryRun, recorded()), Speed: 1}, first: []string{"space"}, wants: "0.5x"},
	"replay.forth":             {o: tui.Options{Replay: true, Recorded: session.ReplayEvents(panetest.StoryRun, recorded()), Speed: 1}, first: []string{"space", "0"}, wants: "4/42"},
	"replay.back":              {o: tui.Options{Replay: true, Recorded: session.ReplayEvents(panetest.StoryRun, recorded()), Speed: 1}, first: []string{"space", "end"}, lacks: "the replay is over"},
	"replay.event_forth":       {o: tui.Options{Replay: true, Recorded: session.ReplayEvents(panetest.StoryRun, recorded()), Speed: 1}, first: []string{"space", "0"}, wants: "1/42"},
	"replay.event_back":        {o: tui.Options{Replay: true, Recorded: session.ReplayEvents(panetest.StoryRun, recorded()), Speed: 1}, first: []string{"space", "end"}, wants: "41/42"},
	"replay.start":             {o: tui.Options{Replay: true, Recorded: session.ReplayEvents(panetest.StoryRun, recorded()), Speed: 1}, first: []string{"space", "end"}, wants: "0:00/"},
	"replay.end":               {o: tui.Options{Replay: true, Recorded: session.ReplayEvents(panetest.StoryRun, recorded()), Speed: 1}, first: []string{"space"}, wants: "the replay is over"},
	"settings":                 {wants: "Settings", sends: asks("settings")},
	"settings.reset":           {first: []string{"alt+o"}, events: []any{session.Settings{Settings: panetest.SettingsInForce().Settings[3:]}}, wants: "Settings", sends: session.SaveSetting{Key: "planning.eager"}},
	"settings.keep":            {first: []string{"alt+o"}, events: []any{panetest.SettingsInForce()}, wants: "the lines for model.name"},
	"servers.login":            {from: (*story).Servers, first: []string{"esc", "alt+s"}, events: []any{panetest.LockedServers()}, then: []string{"down"}, wants: "Asking search where to log in", sends: session.Login{Server: "search"}},
	"servers.disable":          {from: (*story).Servers, first: []string{"esc", "alt+s"}, wants: "Disabling workspace", sends: session.Disable{Server: "workspace"}},
	"servers.disable_for_good": {from: (*story).Servers, first: []string{"esc", "alt+s"}, wants: "Disabling workspace", sends: session.Disable{Server: "workspace", ForGood: true}},
	"servers.log":              {from: (*story).Servers, first: []string{"esc", "alt+s"}, wants: "Reading the log", sends: asks("log workspace -1")},
	"servers.accept":           {from: (*story).Servers, first: []string{"esc", "alt+s"}, events: []any{panetest.ChangedServers()}, then: []string{"down"}, lacks: "Tool servers", sends: session.AskAboutChanges{Server: "search"}},
	"servers.take_back":        {from: (*story).Servers, first: []string{"esc", "alt+s"}, events: []any{panetest.ChangedServers()}, then: []string{"down", "down"}, wants: "You took back your yes to tickets", sends: session.Revoke{Server: "tickets"}},
	"servers.restart":          {from: (*story).Servers, first: []string{"esc", "alt+s"}, wants: "Restarting workspace"},
}

// someModels returns models and profiles to choose from.
func someModels() any { return newStory().Choosing().Answers[0] }
