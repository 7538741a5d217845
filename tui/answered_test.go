package tui_test

import (
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/runner"
	"replan/planning"
	"replan/tui"
)

// more is a story that goes on where another stands.
func more(st *story) *story { return &story{now: st.now, seq: st.seq} }

func TestWhatCameOfACompactionEndsTheWaitForIt(t *testing.T) {
	note := func(text string) agent.Data { return agent.Note{Level: "info", Text: text} }
	for name, c := range map[string]struct {
		sent string
		came agent.Data
		says string
	}{
		"it is summed up":             {"/compact", agent.ChatCompacted{Turns: 3, Kept: 4, Before: 900, After: 200}, "3 messages summed up"},
		"it is put back":              {"/compact undo", agent.ChatCompacted{Undone: true, Turns: 3, Before: 200, After: 900}, "3 messages stand in the conversation again"},
		"nothing is there to sum up":  {"/compact", note("there is nothing to sum up in the conversation"), "nothing to sum up"},
		"nothing is there to be back": {"/compact undo", note("the conversation was not summed up, so there is nothing to put back"), "was not summed up"},
		"it is stopped":               {"/compact", note("stopped: the conversation stays as it is"), "stays as it is"},
		"it fails":                    {"/compact", agent.Note{Level: "warn", Text: "the conversation stays as it is: no model"}, "stays as it is"},
	} {
		t.Run(name, func(t *testing.T) {
			st := newStory().greeted().session(agent.ChatUser{Text: c.sent})
			s := open(t, tui.Options{}, 120, 36).show(st)
			s.wants("getting ready")
			if strings.HasPrefix(name, "it is s") {
				s.press(escape)
				s.sent(runner.Stop{})
				s.wants("stopping")
			}
			s.show(more(st).session(c.came))
			s.wants(c.says)
			s.lacks("getting ready")
			s.lacks("stopping")
			if s.m.Beating() {
				t.Error("the clock goes on")
			}
			s.press(escape)
			s.wants("Nothing runs.")
		})
	}
}

func TestAStreamingAnswerGoesOnBehindACommand(t *testing.T) {
	st := newStory().answering()
	s := settled(t, st, 120, 60)
	next := more(st).session(agent.ChatUser{Text: "/runs"}, agent.ChatReply{Text: "no runs"})
	s.show(next.run(agent.SynthesisDelta{Text: storyAnswer[180:]})).text()
	s.wants("Nothing outside auth/ refers to it.")
	s.show(more(next).run(agent.SynthesisCompleted{Text: storyAnswer + "\nAnd that is all."}))
	s.wants("And that is all.")
}

func TestAnAnswerThatIsCutOffSaysSo(t *testing.T) {
	for name, direct := range map[string]bool{"a direct answer": true, "a synthesis": false} {
		t.Run(name, func(t *testing.T) {
			q := request(planning.PurposeSynthesis, "")
			if direct {
				q = request(planning.PurposeChat, "")
			}
			cut := reply("It begins with", 900, 64)
			cut.CutOff = true
			st := newStory().asked().run(agent.PhaseCompleted{Phase: 1, Label: "analysis", Reply: reply(`{"mode":"direct"}`, 860, 20)},
				agent.SynthesisStarted{Direct: direct, Request: q}, agent.SynthesisCompleted{Text: cut.Text, Reply: cut})
			s := settled(t, st, 120, 36)
			s.wants("! the answer was cut off at 64 tokens")
			if lineOf(s, "cut off") < lineOf(s, "It begins with") {
				t.Error("it is said before the answer")
			}
		})
	}
	settled(t, newStory().finished(), 120, 60).lacks("cut off")
}

func TestWhatIsQueuedLeavesTheChatWhenItIsTaken(t *testing.T) {
	queued := func(names ...string) []agent.Data {
		var out []agent.Data
		for _, name := range names {
			out = append(out, agent.Note{Level: "info", Text: "queued: " + name})
		}
		return out
	}
	plan := planning.Plan{Title: "Tidy up", Steps: storySteps()[:1]}
	for name, c := range map[string]struct {
		queued []string
		taken  func(*story) *story
		gone   []string
		stays  []string
	}{
		"a goal": {
			[]string{"hello three", "hello four"},
			func(st *story) *story { return st.session(agent.ChatUser{Text: "hello three"}) },
			[]string{"queued: hello three"},
			[]string{"› hello three", "· queued: hello four"},
		},
		"a plan": {
			[]string{"run the plan Tidy up", "hello four"},
			func(st *story) *story {
				return st.chat(agent.RunStarted{Goal: "tidy", Workspace: "/src", Model: "m", Plan: &plan})
			},
			[]string{"queued: run the plan"},
			[]string{"· queued: hello four"},
		},
		"a plan to be made": {
			[]string{"tidy"},
			func(st *story) *story {
				return st.chat(agent.RunStarted{Goal: "tidy", Workspace: "/src", Model: "m", PlanOnly: true})
			},
			[]string{"queued: tidy"},
			nil,
		},
		"a run to be resumed": {
			[]string{"resume r-7"},
			func(st *story) *story { return st.session(agent.SessionResuming{Run: "r-7", Upto: 3}) },
			[]string{"queued: resume"},
			nil,
		},
		"a summary": {
			[]string{"sum up the conversation", "hello four"},
			func(st *story) *story {
				return st.session(agent.ChatCompacted{Turns: 3, Kept: 4, Before: 900, After: 200})
			},
			[]string{"queued: sum up"},
			[]string{"· queued: hello four", "3 messages summed up"},
		},
		"nothing to sum up": {
			[]string{"sum up the conversation", "hello four"},
			func(st *story) *story {
				return st.session(agent.Note{Level: "info", Text: "there is nothing to sum up in the conversation"})
			},
			[]string{"queued: sum up"},
			[]string{"· queued: hello four", "there is nothing to sum up"},
		},
		"all of it is given up": {
			[]string{"hello three", "hello four"},
			func(st *story) *story {
				return st.session(agent.Note{Level: "info", Text: "no longer queued: hello three; hello four"})
			},
			[]string{"· queued: hello three", "· queued: hello four"},
			[]string{"no longer queued: hello three; hello four"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			st := newStory().answering()
			s := open(t, tui.Options{}, 120, 60).show(st)
			next := more(st).session(queued(c.queued...)...)
			s.show(next)
			for _, name := range c.queued {
				s.wants("· queued: " + name)
			}
			if line := lineOf(s, "· queued: "+c.queued[0]); !blankChat(s.lines()[line-1]) {
				t.Errorf("it is glued to the answer:\n%s", s.text())
			}
			next = more(next)
			next.run(agent.SynthesisCompleted{Text: storyAnswer},
				agent.RunCompleted{Result: agent.Result{Status: agent.StatusCompleted, Reason: agent.ReasonGoalMet, Answer: storyAnswer}})
			s.show(c.taken(next))
			for _, text := range c.gone {
				s.lacks(text)
			}
			for _, text := range c.stays {
				s.wants(text)
			}
		})
	}
}

// blankChat reports whether the chat has nothing on a line of the screen.
func blankChat(line string) bool {
	chat, _, _ := strings.Cut(strings.TrimPrefix(line, "│"), "│")
	return strings.TrimSpace(chat) == ""
}
