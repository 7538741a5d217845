package runner_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// shelved is a model server that lists and loads its models.
type shelved struct {
	*model
	list   []prompt.ModelInfo
	err    error
	keep   time.Duration
	loaded chan string
}

func (s *shelved) Models(context.Context) ([]prompt.ModelInfo, error) { return s.list, s.err }

func (s *shelved) KeepAlive() time.Duration { return s.keep }

func (s *shelved) Warm(_ context.Context, name string) error {
	s.loaded <- name
	return s.err
}

// settings gives a session profiles and further models to choose from.
func settings(s *stage) {
	s.model.others = map[string]prompt.ModelInfo{
		"big":  {Name: "big:latest", ContextWindow: 32768, Tools: true},
		"slow": {Name: "slow", ContextWindow: 4096},
	}
	s.config = func(c *runner.Config) {
		c.Instructions = "AGENTS.md"
		c.Prompting.System = "plain"
		c.Profiles = []runner.Profile{
			{Name: "careful", Description: "looks only", Model: "slow", Tools: []string{"look"}, Prompting: prompt.Prompting{System: "careful", Think: prompt.ThinkHigh}},
			{Name: "terse", Prompting: prompt.Prompting{System: "terse"}},
		}
	}
}

func ptr[T any](v T) *T { return &v }

// status reads events until a status of the session satisfies fits.
func status(t *testing.T, s *stage, fits func(session.Status) bool) session.Status {
	t.Helper()
	for {
		if st := until[session.Status](t, s); fits(st) {
			return st
		}
	}
}

// run submits a goal, waits for the reply and returns the start event of its run.
func (s *stage) run(t *testing.T, goal string) event.RunStarted {
	t.Helper()
	s.Send(session.Submit{Text: goal})
	started := until[event.RunStarted](t, s)
	until[event.ChatReply](t, s)
	return started
}

func TestChoiceHoldsForNextRun(t *testing.T) {
	s := open(t, policy.ApproveAll, settings)
	if st := status(t, s, func(st session.Status) bool { return st.Model != "" && st.ContextTokens > 0 }); st.Instructions != "AGENTS.md" {
		t.Errorf("the session's status is %+v", st)
	}
	if started := s.run(t, "one"); started.Model != "m" || started.Prompting.System != "plain" || len(started.Catalog) != 2 {
		t.Errorf("without a choice: %+v", started)
	}
	s.Send(session.Choose{Model: ptr("big"), Think: ptr(prompt.ThinkLow)})
	st := status(t, s, func(st session.Status) bool { return st.Model == "big:latest" })
	if st.ContextWindow != 32768 || st.Think != prompt.ThinkLow {
		t.Errorf("status %+v", st)
	}
	started := s.run(t, "two")
	if started.Model != "big:latest" || started.Prompting.ContextWindow != 32768 || started.Prompting.Think != prompt.ThinkLow || !started.Prompting.ModelTools {
		t.Errorf("with another model: %+v", started.Prompting)
	}
	if len(started.Prompting.Conversation) != 2 {
		t.Error("the conversation was lost")
	}
	for _, r := range s.model.requests(prompt.PurposePlan)[1:] {
		if r.Model != "big:latest" {
			t.Errorf("the request went to %q", r.Model)
		}
	}
	s.Send(session.Choose{Profile: ptr("careful")})
	status(t, s, func(st session.Status) bool { return st.Profile == "careful" && st.Model == "slow" })
	s.model.replies[prompt.PurposePlan] = `{"title":"One","steps":[{"title":"Look","tool":"look","args":{}}]}`
	started = s.run(t, "three")
	if started.Model != "slow" || started.Prompting.System != "careful" || started.Prompting.Think != prompt.ThinkLow || len(started.Catalog) != 1 {
		t.Errorf("under a profile: %+v", started)
	}
	s.Send(session.Choose{Profile: ptr("")})
	status(t, s, func(st session.Status) bool { return st.Profile == "" && st.Model == "m" })
	if started := s.run(t, "four"); started.Model != "m" || started.Prompting.System != "plain" || len(started.Prompting.Conversation) != 6 {
		t.Errorf("without the profile: %+v", started)
	}
}

func TestInvalidChoiceChangesNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		choose session.Choose
		want   string
	}{
		"unknown model":   {session.Choose{Model: ptr("none")}, "pull it"},
		"unknown profile": {session.Choose{Profile: ptr("none")}, "there are careful, terse"},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, policy.ApproveAll, settings)
			s.Send(tc.choose)
			if note := until[event.Note](t, s); note.Level != "warn" || !strings.Contains(string(note.Text), tc.want) {
				t.Errorf("got the note %+v", note)
			}
			if started := s.run(t, "do it"); started.Model != "m" || started.Prompting.System != "plain" {
				t.Errorf("%+v", started)
			}
		})
	}
}

func TestChoiceDuringRunHoldsForNextRun(t *testing.T) {
	hold := make(chan struct{})
	s := open(t, policy.ApproveAll, both(settings, func(s *stage) {
		s.model.hold = map[prompt.Purpose]chan struct{}{prompt.PurposeSynthesis: hold}
	}))
	s.Send(session.Submit{Text: "first"})
	until[event.SynthesisStarted](t, s)
	s.Send(session.Choose{Model: ptr("big")})
	status(t, s, func(st session.Status) bool { return st.Model == "big:latest" })
	close(hold)
	until[event.ChatReply](t, s)
	if r := s.model.requests(prompt.PurposeSynthesis); len(r) != 1 || r[0].Model != "m" {
		t.Errorf("the running run made the requests %+v", r)
	}
	if started := s.run(t, "second"); started.Model != "big:latest" {
		t.Errorf("the next run uses %s", started.Model)
	}
}

// slowly is a model that describes itself only when the test allows it.
type slowly struct {
	*model
	hold chan struct{}
}

func (m *slowly) Describe(ctx context.Context, name string) (prompt.ModelInfo, error) {
	if name == "big" {
		select {
		case <-m.hold:
		case <-ctx.Done():
			return prompt.ModelInfo{}, ctx.Err()
		}
	}
	return m.model.Describe(ctx, name)
}

func TestGoalWaitsForChosenModel(t *testing.T) {
	for name, stopped := range map[string]bool{"until the model is known": false, "unless the user stops": true} {
		t.Run(name, func(t *testing.T) {
			hold := make(chan struct{})
			s := open(t, policy.ApproveAll, both(settings, func(s *stage) {
				more := s.config
				s.config = func(c *runner.Config) {
					more(c)
					c.Model = &slowly{s.model, hold}
				}
			}))
			s.Send(session.Choose{Model: ptr("big")})
			want := "big:latest"
			if stopped {
				s.Send(session.Stop{})
				want = "m"
			}
			s.Send(session.Submit{Text: "do it"})
			if !stopped {
				close(hold)
			}
			if started := until[event.RunStarted](t, s); started.Model != want {
				t.Errorf("the run started with %s", started.Model)
			}
			until[event.ChatReply](t, s)
		})
	}
}

func TestSessionStartsWithConfiguredProfile(t *testing.T) {
	under := func(name string) func(*stage) {
		return both(settings, func(s *stage) {
			more := s.config
			s.config = func(c *runner.Config) { more(c); c.Profile = name }
		})
	}
	s := open(t, policy.ApproveAll, under("terse"))
	if started := s.run(t, "do it"); started.Prompting.System != "terse" || started.Model != "m" {
		t.Errorf("%+v", started)
	}
	_, err := runner.NewSession(t.Context(), runner.Config{Model: s.model, Tools: s.tools, Profile: "none"})
	if err == nil || !strings.Contains(err.Error(), `there is no profile "none"`) {
		t.Errorf("error %v", err)
	}
}

func TestModelsAndProfilesAreListed(t *testing.T) {
	s := open(t, policy.ApproveAll, both(settings, func(s *stage) {
		more := s.config
		s.config = func(c *runner.Config) {
			more(c)
			c.Model = &shelved{model: s.model, list: []prompt.ModelInfo{{Name: "m"}, {Name: "big:latest"}}}
		}
	}))
	status(t, s, func(st session.Status) bool { return st.Model != "" })
	got, err := s.Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []session.ProfileChoice{{Name: "careful", Description: "looks only"}, {Name: "terse"}}
	if len(got.Models) != 2 || got.Model != "m" || got.Problem != "" || !slices.Equal(got.Profiles, want) {
		t.Errorf("%+v", got)
	}
}

func TestModelListProblemIsReported(t *testing.T) {
	for name, tc := range map[string]struct {
		wrap func(*model) runner.Model
		want string
	}{
		"server without a list":  {func(m *model) runner.Model { return m }, "/model NAME"},
		"server does not answer": {func(m *model) runner.Model { return &shelved{model: m, err: errors.New("start it")} }, "start it"},
		"empty list":             {func(m *model) runner.Model { return &shelved{model: m} }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, policy.ApproveAll, func(s *stage) {
				s.config = func(c *runner.Config) { c.Model = tc.wrap(s.model) }
			})
			got, err := s.Models(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got.Models == nil || len(got.Models) > 0 || !strings.Contains(string(got.Problem), tc.want) || (got.Problem == "") != (tc.want == "") {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestMeasuredTokenSizeIsUsedInNextRun(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.model.answer = func(r prompt.Request) (reply.Reply, error, bool) {
			bytes := 0
			for _, m := range r.Messages {
				bytes += len(m.Content)
			}
			return reply.Reply{Text: s.model.replies[r.Purpose], PromptTokens: bytes / 4, CompletionTokens: 5}, nil, true
		}
	})
	if first := s.run(t, "one"); first.Prompting.BytesPerToken != 0 {
		t.Errorf("before the first reply: %v bytes per token", first.Prompting.BytesPerToken)
	}
	if second := s.run(t, "two"); second.Prompting.BytesPerToken < 3.9 || second.Prompting.BytesPerToken > 4.1 {
		t.Errorf("with four bytes per token: %v", second.Prompting.BytesPerToken)
	}
}

func TestTokenSizeOfOtherModelsIsIgnored(t *testing.T) {
	s := open(t, policy.ApproveAll, both(settings, func(s *stage) {
		more := s.config
		s.config = func(c *runner.Config) {
			more(c)
			c.Prompting.Profiles = []prompt.Profile{{Name: "other", Model: "big", Tools: []string{}}}
		}
		s.model.info.Tools = true
		s.model.replies[prompt.PurposePlan] = `{"title":"Ask","steps":[{"title":"Ask","executor":"agent","profile":"other"}]}`
		s.model.replies[prompt.PurposeAgent] = "so it is"
		s.model.answer = func(r prompt.Request) (reply.Reply, error, bool) {
			bytes, per := 0, 4
			for _, m := range r.Messages {
				bytes += len(m.Content)
			}
			if r.Model == "big" {
				per = 2
			}
			// The final answer reports no tokens, so the sub-agent's turn is the last one measured.
			return reply.Reply{Text: s.model.replies[r.Purpose], PromptTokens: bytes / per}, nil, r.Purpose != prompt.PurposeSynthesis
		}
	}))
	s.run(t, "one")
	asked := s.model.requests(prompt.PurposeAgent)
	if len(asked) != 1 || asked[0].Model != "big" {
		t.Fatalf("the sub-agent made the requests %+v", asked)
	}
	if second := s.run(t, "two"); second.Prompting.BytesPerToken < 3.9 || second.Prompting.BytesPerToken > 4.1 {
		t.Errorf("with four bytes per token, and two for the sub-agent's model: %v", second.Prompting.BytesPerToken)
	}
}

func TestSubAgentsUseTheirModelsContextWindow(t *testing.T) {
	profiles := []prompt.Profile{{Name: "wide", Model: "big"}, {Name: "gone", Model: "none"}, {Name: "plain"}, {Name: "narrow", Model: "slow"}}
	s := open(t, policy.ApproveAll, both(settings, func(s *stage) {
		more := s.config
		s.config = func(c *runner.Config) {
			more(c)
			c.Prompting.Profiles = profiles
		}
	}))
	var windows []int
	for _, p := range s.run(t, "do it").Prompting.Profiles {
		windows = append(windows, p.ContextWindow)
	}
	if want := []int{32768, 0, 0, 4096}; !slices.Equal(windows, want) {
		t.Errorf("context windows of the sub-agents: got %v, want %v", windows, want)
	}
	if profiles[0].ContextWindow != 0 {
		t.Error("the configuration was changed")
	}
}

func TestSteerReachesInnermostRun(t *testing.T) {
	begun, proceed := make(chan struct{}), make(chan struct{})
	var plans savedPlans
	k := newSavedJournals()
	s := k.session(t, policy.ApproveAll, both(
		plans.chatting(use(prompt.PlanCreateAndExecute, map[string]any{"goal": "look and change"})),
		func(s *stage) {
			s.model.replies[prompt.PurposeReplan] = `{"title":"Other","steps":[{"title":"Look","tool":"look","args":{"again":1}}]}`
			held := false
			s.tools.call = func(context.Context, plan.ToolCall) (any, error) {
				if !held {
					held = true
					close(begun)
					<-proceed
				}
				return "seen", nil
			}
		},
	))
	s.Send(session.Submit{Text: "do it"})
	<-begun
	s.Send(session.Steer{Text: "do not change anything"})
	steered := until[event.RunSteered](t, s)
	inner := s.seen[len(s.seen)-1].Run
	close(proceed)
	reply := until[event.ChatReply](t, s)
	if steered.Text != "do not change anything" || inner == reply.Run {
		t.Errorf("run %s received %q, the outer run is %s", inner, steered.Text, reply.Run)
	}
	if got := s.tools.called(); !slices.Equal(got, []string{"look", "look"}) {
		t.Errorf("called %v", got)
	}
	s.Send(session.Steer{Text: "hello"})
	if user := until[event.ChatUser](t, s); user.Text != "hello" {
		t.Errorf("with no run in progress, %q was submitted", user.Text)
	}
	until[event.ChatReply](t, s)
}

func TestRemarksAndStopsNameTheirAuthor(t *testing.T) {
	begun := make(chan struct{})
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.model.replies[prompt.PurposePlan] = `{"title":"One","steps":[{"title":"Wait","tool":"look","args":{}}]}`
		s.tools.call = func(ctx context.Context, _ plan.ToolCall) (any, error) {
			close(begun)
			<-ctx.Done()
			return nil, ctx.Err()
		}
	})
	s.Send(session.Submit{Text: "do it"})
	<-begun
	s.Send(session.Steer{Text: "hurry", By: "ann@laptop"})
	if steered := until[event.RunSteered](t, s); steered.By != "ann@laptop" {
		t.Errorf("the remark is by %q", steered.By)
	}
	s.Send(session.Stop{By: "bob@desk"})
	if paused := until[event.RunPaused](t, s); paused.Reason != "stopped by bob@desk" {
		t.Errorf("the run was %s", paused.Reason)
	}
}

func TestSlashCommandDoesNotSteer(t *testing.T) {
	hold := make(chan struct{})
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.model.hold = map[prompt.Purpose]chan struct{}{prompt.PurposeAnalysis: hold}
		s.config = func(c *runner.Config) {
			c.Slash = func(_ context.Context, line string, _ runner.SlashState) (runner.Answer, error) {
				return runner.Answer{Text: "took " + line}, nil
			}
		}
	})
	s.Send(session.Submit{Text: "do it"})
	until[event.RunStarted](t, s)
	s.Send(session.Steer{Text: "/help"})
	if reply := until[event.ChatReply](t, s); reply.Text != "took /help" {
		t.Errorf("%+v", reply)
	}
	close(hold)
	until[event.ChatReply](t, s)
}

func TestUnreadSteeringBecomesNextGoal(t *testing.T) {
	hold := make(chan struct{})
	s := open(t, policy.ApproveAll, func(s *stage) {
		delete(s.model.replies, prompt.PurposePlan)
		s.model.hold = map[prompt.Purpose]chan struct{}{prompt.PurposeAnalysis: hold}
	})
	s.Send(session.Submit{Text: "do it"})
	until[event.PhaseStarted](t, s)
	s.Send(session.Steer{Text: "and be quick"})
	until[event.RunSteered](t, s)
	close(hold)
	if reply := until[event.ChatReply](t, s); reply.Reason != event.ReasonPlannerError {
		t.Fatalf("%+v", reply)
	}
	if started := until[event.RunStarted](t, s); started.Goal != "and be quick" {
		t.Errorf("the next run's goal is %q", started.Goal)
	}
	until[event.ChatReply](t, s)
}
