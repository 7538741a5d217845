package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// selection holds the user's choice of profile, model and thinking level.
type selection struct {
	profile *Profile // nil: none
	model   *string  // nil: the profile's; "": the first model of the server that supports tools
	think   *prompt.ThinkLevel
	planner *string // the model that plans; nil: as configured, "": the one that answers
}

// name returns the requested model, "" for the server's choice.
func (m selection) name() string {
	switch {
	case m.model != nil:
		return *m.model
	case m.profile != nil:
		return m.profile.Model
	default:
		return ""
	}
}

// called returns the name of the profile, "" for none.
func (m selection) called() string {
	if m.profile == nil {
		return ""
	}
	return m.profile.Name
}

// jobConfig holds the settings with which a job is prepared. It copies the
// session's state, so that the preparing worker need not ask for it.
type jobConfig struct {
	model     string
	prompting prompt.Prompting   // including the conversation
	tools     []string           // patterns; nil is every tool
	wanted    map[string]int     // tokens that earlier runs had no room for, by model
	rates     map[string]float64 // bytes per token, by model
	share     int                // of the window that the conversation may take, in percent
	summed    bool               // the conversation starts with a summary
	spent     bool               // the budget of the session is used up
}

// offered filters a catalogue by the tool patterns of the job.
func (t jobConfig) offered(all plan.Catalogue) plan.Catalogue {
	profile := prompt.Profile{Tools: t.tools}
	return slices.DeleteFunc(slices.Clone(all), func(tool plan.Tool) bool { return !profile.May(tool) })
}

// jobConfig returns the settings of the next job.
func (s *Session) jobConfig() jobConfig {
	t := jobConfig{model: s.selection.name(), prompting: s.cfg.Prompting, share: fullShare, summed: len(s.conversation.compactions) > 0}
	if p := s.selection.profile; p != nil {
		t.prompting, t.tools = p.Prompting, p.Tools
	}
	if s.selection.think != nil {
		t.prompting.Think = *s.selection.think
	}
	if s.selection.planner != nil {
		t.prompting.Models = prompt.Models{Planner: prompt.PlanModel{Name: *s.selection.planner}}
	}
	if s.conversation.undone {
		t.share = undoneShare
	}
	if measured := s.modelUse.bytesPerToken[string(s.status.Model)]; measured > 0 {
		t.prompting.BytesPerToken = measured
	}
	t.wanted, t.rates = maps.Clone(s.modelUse.wanted), maps.Clone(s.modelUse.bytesPerToken)
	t.prompting.Conversation = slices.Clip(s.conversation.messages) // clipped, so that an append copies it
	_, spent := s.account.lease(s.cfg.Limits)
	t.spent = spent != ""
	return t
}

// profile returns the profile with the given name, nil for "".
func (s *Session) profile(name string) (*Profile, error) {
	if name == "" {
		return nil, nil
	}
	var names []string
	for i, p := range s.cfg.Profiles {
		if p.Name == name {
			return &s.cfg.Profiles[i], nil
		}
		names = append(names, p.Name)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("there is no profile %q: define one in [profiles] of the configuration", name)
	}
	return nil, fmt.Errorf("there is no profile %q; there are %s", name, strings.Join(names, ", "))
}

// misses reports, once, which patterns of the profiles match no tool. It stays
// silent while a server is missing, since its tools are unknown.
func (s *Session) misses(all plan.Catalogue) {
	if slices.ContainsFunc(s.status.Servers, func(server plan.ServerStatus) bool {
		return server.State != plan.ServerReady && server.State != plan.ServerStopped // a stopped server is not wanted
	}) {
		return
	}
	for _, p := range s.cfg.Profiles {
		none := slices.DeleteFunc(slices.Clone(p.Tools), func(pattern string) bool {
			only := prompt.Profile{Tools: []string{pattern}}
			return slices.ContainsFunc(all, only.May)
		})
		if len(none) == 0 || p.BuiltIn {
			continue
		}
		key, what := "profile "+p.Name, strings.Join(none, ", ")
		if s.troubles[key] != what {
			s.troubles[key] = what
			s.publishNote("warn", fmt.Sprintf("the profile %q: there is no tool %s (replan tools lists them)", p.Name, what))
		}
	}
}

// windows looks up the context windows of sub-agents whose profile names its own
// model. A failed lookup is logged and does not keep the run from starting.
func (s preparation) windows(ctx context.Context, p *prepared) []prompt.Profile {
	profiles := slices.Clone(p.jobConfig.prompting.Profiles)
	for i, profile := range profiles {
		if profile.Model == "" {
			continue
		}
		info, err := s.cfg.Model.Describe(ctx, profile.Model)
		if err != nil {
			s.cfg.Logger.Warn("the model of a profile is not known", "profile", profile.Name, "model", profile.Model, "error", err)
			continue
		}
		info = s.enlarge(ctx, p, growth{name: profile.Model, info: info, wanted: p.jobConfig.wanted[profile.Model]})
		profiles[i].ContextWindow, profiles[i].Small, profiles[i].Loops, profiles[i].WritesCalls = info.ContextWindow, info.Small, info.Loops, info.WritesCalls
		profiles[i].ReadSpeed = info.Speed.Read
	}
	return profiles
}

// choose applies the waiting choices in order. If a choice changes the model, it
// looks the model up first.
func (s *Session) choose(ctx context.Context) {
	for len(s.choices) > 0 && s.choosing == nil {
		c, m := s.choices[0], s.selection
		s.choices = s.choices[1:]
		if c.Profile != nil {
			profile, err := s.profile(*c.Profile)
			if err != nil {
				s.publishNote("warn", err.Error())
				_ = s.publish(session.Chosen{Choice: session.Choice(c), Problem: untrusted.Text(err.Error())})
				continue
			}
			if profile != nil && profile.Model != "" || m.profile != nil && m.profile.Model != "" {
				m.model = nil // a model chosen for one profile does not apply to the other
			}
			m.profile = profile
		}
		if c.Model != nil {
			m.model = c.Model
		}
		if c.Think != nil {
			m.think = c.Think
		}
		if c.Planner != nil {
			m.planner = c.Planner
		}
		if c.Model == nil && m.name() == s.selection.name() && (c.Planner == nil || *c.Planner == "") {
			s.adopt(m, nil)
			_ = s.publish(session.Chosen{Choice: session.Choice(c)})
			keepChoice(s, c)
			continue
		}
		var looking context.Context
		looking, s.choosing = context.WithCancel(ctx)
		s.workers.Go(func() {
			info, err := s.cfg.Model.Describe(looking, m.name())
			if err == nil && c.Planner != nil && *c.Planner != "" {
				_, err = s.cfg.Model.Describe(looking, *c.Planner)
			}
			s.outcomes <- outcome{finish: func() { s.described(ctx, c, m, info, err) }}
		})
	}
}

// described adopts the selection m that a choice leads to after its model was
// looked up, then continues with the remaining choices.
func (s *Session) described(ctx context.Context, c session.Choose, m selection, info prompt.ModelInfo, err error) {
	s.choosing()
	s.choosing = nil
	chosen := session.Chosen{Choice: session.Choice(c), Info: info}
	switch {
	case errors.Is(err, context.Canceled):
		chosen.Problem = "stopped: nothing was chosen"
		s.publishNote("info", string(chosen.Problem))
	case err != nil:
		chosen.Problem = untrusted.Text("nothing was chosen: " + err.Error())
		s.publishNote("warn", string(chosen.Problem))
	default:
		if m.model != nil && *m.model != "" {
			m.model = &info.Name // the server's name for it
		}
		s.adopt(m, &info)
		keepChoice(s, c)
	}
	_ = s.publish(chosen)
	s.choose(ctx)
	s.next(ctx)
}

// adopt makes m the selection from the next run on; the current run keeps its
// own. info describes the new model and is nil if the model is unchanged.
func (s *Session) adopt(m selection, info *prompt.ModelInfo) {
	s.selection = m
	if info != nil {
		if untrusted.Text(info.Name) != s.status.Model {
			s.modelUse.active = time.Time{} // no request has gone to this model yet
		}
		s.status.Model, s.status.ContextWindow, s.status.Problem, s.status.Trouble = untrusted.Text(info.Name), info.ContextWindow, "", prompt.ModelTrouble{}
	}
	s.publishStatus()
}

// weigh publishes the status if the size of the next request's opening has
// changed.
func (s *Session) weigh() {
	if s.opening() != s.status.ContextTokens {
		s.publishStatus()
	}
}

// opening estimates the tokens of the next request's prompt, tools and
// conversation. It returns 0 while the tools are unknown.
func (s *Session) opening() int {
	if s.catalogue == nil {
		return 0
	}
	t := s.jobConfig()
	t.prompting.ContextWindow = s.status.ContextWindow
	return prompt.Tokens(prompt.Brief{Catalogue: t.offered(s.catalogue).Accepted(), Prompting: t.prompting})
}

// keep saves a setting that the user chose, for later sessions, and reports it. A
// nil value removes it. Where nothing is saved, an answer comes only if it is
// awaited. Workers save the settings, since a file may be locked; they do so one
// at a time, in order.
func (s *Session) keep(key string, value *string, awaited bool) {
	kept := session.Kept{Key: key, Removed: value == nil}
	if value != nil {
		kept.Value = *value
	}
	if s.cfg.Keep == nil {
		if awaited {
			_ = s.publish(kept)
		}
		return
	}
	before, saved := s.saved, make(chan struct{})
	s.saved = saved
	s.workers.Go(func() {
		defer close(saved)
		if before != nil {
			<-before
		}
		var err error
		if kept.File, err = s.cfg.Keep(key, value); err != nil {
			s.cfg.Logger.Warn("save a setting", "key", key, "error", err)
			kept.Problem = untrusted.Text(err.Error())
		}
		var o outcome
		if err != nil || kept.File != "" || awaited {
			o.events = []event.Data{kept}
		}
		s.outcomes <- o
	})
}

// keepLast saves the last choice before the session ended.
func keepLast(s *Session) {
	for {
		select {
		case r := <-s.requests:
			if c, ok := r.command.(session.Keep); ok && s.cfg.Keep != nil {
				s.keep(c.Key, c.Value, false)
			}
		default:
			return
		}
	}
}

// keepChoice saves a choice that the session has adopted. Choices under a profile
// belong to it, and are not saved.
func keepChoice(s *Session, c session.Choose) {
	if s.selection.profile != nil {
		return
	}
	if c.Model != nil {
		s.keep("model.name", nonEmpty(s.selection.name()), false)
	}
	if c.Planner != nil {
		s.keep("planning.planner_model", nonEmpty(*c.Planner), false)
	}
	if c.Think != nil {
		s.keep("model.think", new(cmp.Or(string(*c.Think), "auto")), false)
	}
}

// hold sets whether later plans wait for review, also in later sessions.
func hold(s *Session, on bool) {
	s.cfg.Review = on
	s.publishStatus()
	if on {
		s.keep("screen.review", new("true"), false)
	} else {
		s.keep("screen.review", nil, false)
	}
}

// nonEmpty returns a pointer to a text, nil for an empty one.
func nonEmpty(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
