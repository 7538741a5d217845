package chat_test

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/tui/chat"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/live"
	"replan/tui/panetest"
)

// conversation is a chat that hears a story, as the screen lets it.
type conversation struct {
	*panetest.Driver
	pane *chat.Pane
	runs *live.Runs
}

// talking returns a chat that has heard a story.
func talking(t *testing.T, st *panetest.Story, width, height int) *conversation {
	t.Helper()
	k, look := panetest.Keys(), panetest.DarkLook()
	c := &conversation{pane: chat.New(look), runs: &live.Runs{}}
	size := draw.Rect{W: width, H: height}
	c.Driver = &panetest.Driver{T: t, Keys: k, Part: c.pane, Draw: func() []string {
		c.pane.SetState(chat.State{Size: size, ResumeKey: "ctrl+r, enter", Shown: c.runs.Shown().State})
		return c.pane.View()
	}}
	c.Draw()
	return c.hear(st)
}

// hear lets more of the story happen.
func (c *conversation) hear(st *panetest.Story) *conversation {
	c.T.Helper()
	for _, e := range st.Events {
		if r := c.runs.Find(e.Run); r != nil {
			c.follow(r, e)
			continue
		}
		switch d := e.Data.(type) {
		case event.RunStarted:
			r, err := c.runs.Start(e)
			if err != nil {
				c.T.Fatal(err)
			}
			c.pane.Narrate(r.State, r.Nested).Start(d)
		case event.ChatUser:
			c.pane.Message(d, false)
		case event.ChatReply:
			c.pane.Reply(d)
		case event.ChatCompacted:
			c.pane.Add(c.pane.Compacted(d))
		}
	}
	c.pane.Invalidate()
	c.Draw()
	return c
}

// follow applies an event of a run and has it told.
func (c *conversation) follow(r *live.Run, e event.Event) {
	c.T.Helper()
	if reply, is := e.Data.(event.ChatReply); is {
		c.pane.Reply(reply)
		return
	}
	narrator := c.pane.Narrator(e.Run)
	before := narrator.Before(e.Data)
	if err := c.runs.Apply(r, e); err != nil {
		c.T.Fatal(err)
	}
	narrator.Narrate(e.Data, before)
}

// wantsOnce fails the test unless a text is in the chat once.
func (c *conversation) wantsOnce(text string) {
	c.T.Helper()
	if n := strings.Count(c.Text(), text); n != 1 {
		c.T.Errorf("%q is shown %d times:\n%s", text, n, c.Text())
	}
}

// replied is a chat with one answer of that Markdown.
func replied(text string) *panetest.Story {
	return panetest.NewStory().Session(event.ChatUser{Text: "tell me"}, event.ChatReply{Text: untrusted.Text(text)})
}

func TestCopyTakesCodeBlocksNewestFirst(t *testing.T) {
	const twoBlocks = "First:\n\n```go\nfunc a() {\n\treturn\n}\n```\n\nand then a sentence\n\n```\nmake all   \n```\n"
	s := talking(t, replied(twoBlocks), 62, 30)
	for _, want := range []keymap.Copy{
		{What: "code block 2 of 2, 1 line", Text: "make all   "},
		{What: "code block 1 of 2, 3 lines", Text: "func a() {\n\treturn\n}"},
		{What: "code block 2 of 2, 1 line", Text: "make all   "},
	} {
		if got := keymap.First[keymap.Copy](s.Press(panetest.Key("alt+y")).Requests); got != want {
			t.Errorf("copied %+v, want %+v", got, want)
		}
	}
	s.Wants("▌ make all")
	s.pane.Unmark()
	s.Lacks("▌ make all")
	talking(t, replied("nothing but words"), 62, 30).Press(panetest.Key("alt+y")).Wants("The chat has no code block.")
}

func TestSearchWithCapitalIsCaseSensitive(t *testing.T) {
	s := talking(t, panetest.NewStory().Finished(), 62, 30)
	s.Press(panetest.Key("ctrl+f")).Type("VerifyUser").Wants("not found")
	s.Press(panetest.Key("ctrl+u")).Type("VERIFY").Wants("not found")
	s.Press(panetest.Key("ctrl+w")).Wants("type what to find")
	s.Type("verifyUsex").Press(panetest.Key("backspace")).Wants(" of 3")
	s.Update(tea.PasteMsg{Content: "ry"})
	s.Wants("not found")
	talking(t, panetest.NewStory(), 62, 30).Press(panetest.Key("ctrl+f")).Wants("The chat is empty.")
}

func TestThinkingUnfoldsByKey(t *testing.T) {
	st := panetest.NewStory().Session(event.ChatUser{Text: "why?"}).
		Run(event.RunStarted{Goal: "why?", Workspace: "/src", Model: "qwen3:8b", Limits: event.DefaultLimits()},
			event.PhaseSkipped{Phase: 1}, event.SynthesisStarted{Direct: true, Request: prompt.Request{Purpose: prompt.PurposeChat}}).
		After(100).Run(event.SynthesisDelta{Thinking: "The user asks why. "}).
		After(3100).Run(event.SynthesisDelta{Thinking: "There is no reason."}).Run(event.SynthesisDelta{Text: "Because."})
	s := talking(t, st, 62, 30)
	s.Wants("▸ thinking · 3.1s · 8 words")
	s.Lacks("There is no reason.")
	s.Press(panetest.Key("alt+t")).Wants("▾ thinking · 3.1s · 8 words", "│ The user asks why. There is no reason.")
	s.Press(panetest.Key("alt+t")).Lacks("There is no reason.")
	s.Press(panetest.Key("alt+T"))
	s.Sent(session.SaveSetting{Key: chat.KeyShowThinking, Value: new("true")})
	talking(t, replied("words"), 62, 30).Press(panetest.Key("alt+t")).Wants("The chat shows no thinking.")
}

func TestResultsOfEarlierSessionUnfold(t *testing.T) {
	s := talking(t, panetest.NewStory().Session(
		event.ChatUser{Text: "/plan run release-notes"},
		event.ChatReply{Run: panetest.StoryPlanRun, Status: event.StatusCompleted, Reason: event.ReasonGoalMet, Text: "Publish the release notes: 4 of 4 steps done.", Results: "**1. Read**: completed\n\n```\n- faster\n```\n"},
	), 62, 30)
	s.Wants("4 of 4 steps done.", "results of the steps")
	s.Lacks("- faster")
	s.Press(panetest.Key("alt+u")).Wants("- faster")
}

func TestCardsFollowTheTextThatLedToThem(t *testing.T) {
	s := talking(t, panetest.NewStory().Calling(), 62, 30)
	s.Wants("✓ vcs.log  auth/jwt.go  60ms", "fs.read  auth/jwt.go", "✗ fs.read  auth/token_helper", "there is no file")
	s.wantsOnce("Let me look at the log and at the file itself.")
	if s.Line("Let me look") > s.Line("✓ vcs.log  auth/jwt.go  60ms") {
		t.Errorf("the calls are above the text that led to them:\n%s", s.Text())
	}
}

func TestPlanCardShowsOutcome(t *testing.T) {
	for name, c := range map[string]struct {
		result map[string]any
		want   []string
	}{
		"failed":    {map[string]any{"status": "failed", "reason": "step_failed", "error": "step 2 (Rename) failed: no such file"}, []string{"✗ plan_create_and_execute", "failed", "step 2 (Rename) failed: no such file"}},
		"no reason": {map[string]any{"status": "failed", "reason": "step_failed"}, []string{"✗ plan_create_and_execute", "step failed"}},
		"completed": {map[string]any{"status": "completed", "reason": "goal_met"}, []string{"✓ plan_create_and_execute", "1.7s"}},
		"stored":    {map[string]any{"id": "jwt", "title": "Rename"}, []string{"✓ plan_create_and_execute"}},
	} {
		t.Run(name, func(t *testing.T) {
			st := panetest.NewStory().Delegating().Child(event.RunCompleted{Result: event.Result{Status: event.StatusFailed, Reason: event.ReasonStepFailed, DurationMS: 1710}})
			st.Chat(event.StepCompleted{Index: "chat.4", Attempt: 1, MS: 1720, Result: c.result, Run: panetest.StoryChildRun})
			s := talking(t, st, 106, 60)
			line := s.Lines()[s.Line(c.want[0])]
			if strings.HasPrefix(c.want[0], "✗") == strings.Contains(line, "1.7s") {
				t.Errorf("got the card %s", line)
			}
			s.Wants(c.want...)
		})
	}
}

func TestStreamingAnswerContinuesAfterCommand(t *testing.T) {
	st := panetest.NewStory().Answering()
	s := talking(t, st, 62, 60)
	next := st.Next().Session(event.ChatUser{Text: "/runs"}, event.ChatReply{Text: "no runs"})
	s.hear(next.Run(event.SynthesisDelta{Text: panetest.StoryAnswer[180:]}))
	s.Wants("Nothing outside auth/ refers to it.")
	s.hear(next.Next().Run(event.SynthesisCompleted{Text: panetest.StoryAnswer + "\nAnd that is all."}))
	s.Wants("And that is all.")
}

func TestCutOffAnswerIsMarked(t *testing.T) {
	for name, direct := range map[string]bool{"a direct answer": true, "a synthesis": false} {
		t.Run(name, func(t *testing.T) {
			q := panetest.SampleRequest(prompt.PurposeSynthesis, "")
			if direct {
				q = panetest.SampleRequest(prompt.PurposeChat, "")
			}
			cut := panetest.SampleReply("It begins with", 900, 64)
			cut.CutOff = true
			st := panetest.NewStory().Asked().Run(event.PhaseCompleted{Phase: 1, Label: "analysis", Reply: panetest.SampleReply(`{"mode":"direct"}`, 860, 20)},
				event.SynthesisStarted{Direct: direct, Request: q}, event.SynthesisCompleted{Text: untrusted.Text(cut.Text), Reply: cut})
			s := talking(t, st, 62, 30)
			if s.Line("! the answer was cut off at 64 tokens") < s.Line("It begins with") {
				t.Error("the note is above the answer")
			}
		})
	}
	talking(t, panetest.NewStory().Finished(), 62, 60).Lacks("cut off")
}

func TestFailedExchangeIsToldOfAStep(t *testing.T) {
	q := panetest.SampleRequest(prompt.PurposeAgent, "2")
	q.Shortened = "The prompt was shortened: 2 results are not whole."
	st := panetest.NewStory().Exploring().Run(event.StepCompleted{Index: "2.3", Attempt: 1},
		event.ModelRequested{Purpose: prompt.PurposeAgent, Step: "2", Attempt: 1, Request: q},
		event.ModelReplied{Purpose: prompt.PurposeAgent, Step: "2", Attempt: 1, Error: "the model has thought on without an answer", Failure: event.FailureModel})
	s := talking(t, st, 62, 30)
	s.Wants("! the model has thought on without an answer")
	s.Lacks("2 results are not whole") // its exchange says so
}

func TestMissingAnswerIsExplainedOnce(t *testing.T) {
	const why = "the window is too small"
	st := panetest.NewStory().Chat(event.RunStarted{Goal: "why", Workspace: "/src", Model: "m", Prompting: prompt.Prompting{SkipAnalysis: true, SkipReview: true, SkipPlan: true}})
	for phase, label := range []string{"analysis", "review", "plan"} {
		st.Chat(event.PhaseSkipped{Phase: phase + 1, Label: label, Reason: "switched off"})
	}
	st.Chat(event.SynthesisStarted{Direct: true}, event.SynthesisCompleted{Error: why},
		event.RunCompleted{Result: event.Result{Status: event.StatusFailed, Reason: event.ReasonPlannerError, Error: why}})
	s := talking(t, st, 62, 30)
	s.wantsOnce(why)
	s.Wants("failed: planner error")
	s.Lacks("skipped") // without planning no phase is shown
}

func TestPlanFromFileShowsNoPhases(t *testing.T) {
	s := talking(t, panetest.NewStory().Done(), 62, 30)
	s.Wants("› /plan run release-notes", "▸ plan Publish the release notes · 4 steps", "✓ done  0:01 · 4 steps")
	s.Lacks("4 of 4 steps done") // the plan and the line above show it
}

func TestDryRunIsLabeled(t *testing.T) {
	talking(t, panetest.NewStory().DryRun(), 62, 30).Wants("plan Publish the release notes · 4 steps · dry run",
		"◆ step 3 would ask: its server does not say that it only reads", "dry run: nothing was called")
}

func TestPlanOnlyRunSaysWhereThePlanIsStored(t *testing.T) {
	st := panetest.NewStory().Session(event.ChatUser{Text: "/plan create x"}).
		Run(event.RunStarted{Goal: "x", Model: "m", PlanOnly: true}, event.PlanCreated{Plan: panetest.NotesPlan(), Revision: 1},
			event.RunCompleted{Result: event.Result{Status: event.StatusCompleted, Reason: event.ReasonGoalMet}}).
		Session(event.ChatReply{Run: panetest.StoryRun, Status: event.StatusCompleted, Text: "The plan `release-notes` is stored."})
	talking(t, st, 62, 30).Wants("planned: nothing was run", "is stored.")
}

func TestCommandReplyIsRenderedAsMarkdown(t *testing.T) {
	s := talking(t, panetest.NewStory().Session(event.ChatUser{Text: "/runs list"}, event.ChatReply{Text: "**two** runs\n\n- `r-1`"}), 62, 30)
	s.Wants("• r-1")
	s.Lacks("**two**")
}

func TestCommandTableIsTruncatedNotWrapped(t *testing.T) {
	row := "r-1  completed  " + strings.Repeat("a long goal ", 12) + "its end"
	text := "Two runs:\n\n```\n" + row + "\nr-2  failed     short\n```\n"
	for asked, cut := range map[string]bool{"/runs list": true, "show me": false} {
		s := talking(t, panetest.NewStory().Session(event.ChatUser{Text: untrusted.Text(asked)}, event.ChatReply{Text: untrusted.Text(text)}), 62, 30)
		s.Wants("r-2  failed     short")
		if got := strings.Contains(s.Text(), "its end"); got == cut {
			t.Errorf("%s: got the end of a long row %v\n%s", asked, got, s.Text())
		}
		if cut {
			s.Wants("a long …")
		}
	}
}

func TestChatSummarizesReviewChanges(t *testing.T) {
	st := panetest.NewStory().Reviewing()
	s := talking(t, st, 62, 30)
	changed := plan.Plan{Title: "Tidy up", Goal: "tidy up", Steps: panetest.ReviewSteps()[1:3]}
	changed.Steps[0].Title = "Write other notes"
	changed.Steps[1].Args, changed.Steps[1].DependsOn = map[string]any{"path": "copy.go", "text": "x"}, []string{"2"}
	s.hear(st.Next().Run(event.PlanReviewed{
		Revision: 1, Decision: event.ReviewRun, By: "user", Plan: &changed, Edited: []string{"2", "3"}, Removed: []string{"1", "4", "5"},
		Moved: []event.Move{{Step: "3", After: "2"}}, Approved: []event.Approval{{Step: "2", Tool: "workspace:fs.write", Args: changed.Steps[0].Args}},
	}))
	s.Wants("reviewed the plan: 2 edited · 1 moved · 3 out · 1 gate", "− 4 Push it", "~ 2 Write other notes", "step 3 waits for 2")
}

func TestChatNamesSavedRule(t *testing.T) {
	st := panetest.NewStory().Revised()
	s := talking(t, st, 62, 30)
	saved := panetest.HelperRule().Rule
	s.hear(st.Next().Run(event.GateResolved{Gate: "7.2.1", Decision: event.Allow, Scope: event.ScopeAlways, By: "user", Rule: &saved}))
	s.Wants("and always for fs.patch in this", "workspace with path auth/jwt.go")
}

func TestRemarkIsShownOnce(t *testing.T) {
	st := panetest.NewStory().Exploring().Session(event.ChatUser{Text: "/steer leave the tests"}).Run(event.RunSteered{Text: "leave the tests"})
	s := talking(t, st, 62, 60)
	s.Wants("sent to the current run")
	s.wantsOnce("leave the tests")
	talking(t, panetest.NewStory().Exploring().Run(event.RunSteered{Text: "hurry", By: "ann@laptop"}), 62, 30).Wants("sent to the current run (by ann@laptop)")
}

func TestCompactionNoticeNamesUndo(t *testing.T) {
	s := talking(t, panetest.NewStory().Spoken(), 62, 60)
	s.Wants("18 messages summarized, 9.1k → 1.2k tokens", "/compact undo", "18 messages are back in the conversation",
		"what changed in the token helper lately?") // the chat keeps its messages
	talking(t, panetest.NewStory().Session(event.ChatCompacted{Turns: 3, Before: 900, After: 200, ByRule: true}), 62, 30).
		Wants("3 messages shortened, 900 → 200 tokens · /compact undo")
}

func TestThinkingThatDidNotStreamIsShown(t *testing.T) {
	done := panetest.SampleReply("It does not.", 2500, 12)
	done.Thinking = "So the helper is the last one."
	st := panetest.NewStory().Calling().Chat(event.StepCompleted{Index: "chat.2", Attempt: 1},
		event.ModelRequested{Purpose: prompt.PurposeChat, Request: panetest.SampleRequest(prompt.PurposeChat, "")},
		event.SynthesisCompleted{Text: untrusted.Text(done.Text), Reply: done})
	s := talking(t, st, 62, 60)
	s.Wants("It does not.", "▸ thinking")
	s.Press(panetest.Key("alt+t")).Wants("So the helper is the last one.")
}
