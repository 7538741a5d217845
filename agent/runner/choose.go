package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"replan/planning/plan"
	"replan/planning/prompt"
)

// selection is the profile, the model and the thinking that the user chose.
type selection struct {
	profile *Profile // nil is none
	model   *string  // nil is the profile's; "" is the server's first that can use tools
	think   *prompt.ThinkLevel
}

// name is the model that is asked for, "" for the server's own choice.
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

// called is the name of the profile, "" for none.
func (m selection) called() string {
	if m.profile == nil {
		return ""
	}
	return m.profile.Name
}

// jobTerms are the conditions under which a job is prepared: a copy of the
// session's state, so that the worker that prepares need not ask for it.
type jobTerms struct {
	model     string
	prompting prompt.Prompting // with the conversation
	tools     []string         // patterns; nil is every tool
	share     int              // of the window, in per cent, that the conversation may take
	summed    bool             // the conversation begins with a summary
	spent     bool             // the budget of the session is used up
}

// offered is what of a catalogue is on offer.
func (t jobTerms) offered(all plan.Catalogue) plan.Catalogue {
	profile := prompt.Profile{Tools: t.tools}
	return slices.DeleteFunc(slices.Clone(all), func(tool plan.Tool) bool { return !profile.May(tool) })
}

// jobTerms returns the conditions of the next job.
func (s *Session) jobTerms() jobTerms {
	t := jobTerms{model: s.selection.name(), prompting: s.cfg.Prompting, share: fullShare, summed: len(s.conversation.compactions) > 0}
	if p := s.selection.profile; p != nil {
		t.prompting, t.tools = p.Prompting, p.Tools
	}
	if s.selection.think != nil {
		t.prompting.Think = *s.selection.think
	}
	if s.conversation.undone {
		t.share = undoneShare
	}
	if measured := s.modelUse.bytesPerToken[s.status.Model]; measured > 0 {
		t.prompting.BytesPerToken = measured
	}
	t.prompting.Conversation = slices.Clip(s.conversation.messages) // whoever adds to it adds to one of its own
	_, spent := s.account.lease(s.cfg.Limits)
	t.spent = spent != ""
	return t
}

// profile returns the profile with this name; nil for "", which is none.
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
		return nil, fmt.Errorf("there is no profile called %q: name one in [profiles] of the configuration", name)
	}
	return nil, fmt.Errorf("there is no profile called %q: there are %s", name, strings.Join(names, ", "))
}

// windows finds out how much room sub-agents have whose profile names a model of
// its own. One that cannot be described keeps no run from starting.
func (s preparation) windows(ctx context.Context, profiles []prompt.Profile) []prompt.Profile {
	profiles = slices.Clone(profiles)
	for i, profile := range profiles {
		if profile.Model == "" {
			continue
		}
		info, err := s.cfg.Model.Describe(ctx, profile.Model)
		if err != nil {
			s.cfg.Logger.Warn("the model of a profile is not known", "profile", profile.Name, "model", profile.Model, "error", err)
			continue
		}
		profiles[i].ContextWindow = info.ContextWindow
	}
	return profiles
}

// choose takes the choices that wait, one after the other. Where one is about
// the model, it is first asked what that is like.
func (s *Session) choose(ctx context.Context) {
	for len(s.choices) > 0 && s.choosing == nil {
		c, m := s.choices[0], s.selection
		s.choices = s.choices[1:]
		if c.Profile != nil {
			profile, err := s.profile(*c.Profile)
			if err != nil {
				s.tellOf("warn", err.Error())
				continue
			}
			if profile != nil && profile.Model != "" || m.profile != nil && m.profile.Model != "" {
				m.model = nil // a model that was chosen for one of the two is not for the other
			}
			m.profile = profile
		}
		if c.Model != nil {
			m.model = c.Model
		}
		if c.Think != nil {
			m.think = c.Think
		}
		if c.Model == nil && m.name() == s.selection.name() {
			s.adopt(m, nil)
			continue
		}
		var looking context.Context
		looking, s.choosing = context.WithCancel(ctx)
		s.workers.Go(func() {
			info, err := s.cfg.Model.Describe(looking, m.name())
			s.outcomes <- outcome{finish: func() { s.described(ctx, m, info, err) }}
		})
	}
}

// described adopts a choice whose model was looked up, and goes on with those
// behind it.
func (s *Session) described(ctx context.Context, m selection, info prompt.ModelInfo, err error) {
	s.choosing()
	s.choosing = nil
	switch {
	case errors.Is(err, context.Canceled):
		s.tellOf("info", "stopped: nothing was chosen")
	case err != nil:
		s.tellOf("warn", "nothing was chosen: "+err.Error())
	default:
		if m.model != nil && *m.model != "" {
			m.model = &info.Name // as the server calls it
		}
		s.adopt(m, &info)
	}
	s.choose(ctx)
	s.next(ctx)
}

// adopt works by another selection from the next run on; the run in progress stays
// with what it began with. info is what its model is like, nil where that is the
// same as before.
func (s *Session) adopt(m selection, info *prompt.ModelInfo) {
	s.selection = m
	if info != nil {
		if info.Name != s.status.Model {
			s.modelUse.active = time.Time{} // nobody has asked this one for anything yet
		}
		s.status.Model, s.status.ContextWindow, s.status.Problem, s.status.Trouble = info.Name, info.ContextWindow, "", prompt.ModelTrouble{}
	}
	s.tell()
}

// warm has the model loaded, unless it still is from a short while ago, or would
// not be any more when it is asked.
func (s *Session) warm(ctx context.Context) {
	shelf, ok := s.cfg.Model.(Shelf)
	name := s.selection.name()
	if !ok || s.busy() || s.modelUse.warming[name] || s.modelUse.stays(shelf.KeepAlive(), s.cfg.Now()) {
		return
	}
	s.modelUse.warming[name] = true
	s.workers.Go(func() {
		err := shelf.Warm(ctx, name)
		if err != nil {
			s.cfg.Logger.Info("load the model", "model", name, "error", err)
		}
		s.outcomes <- outcome{finish: func() { s.warmed(name, err) }}
	})
}

// warmed notes that a model is loaded, unless another was chosen since.
func (s *Session) warmed(name string, err error) {
	delete(s.modelUse.warming, name)
	if err == nil && name == s.selection.name() {
		s.modelUse.active = s.cfg.Now()
	}
}

// weigh tells how much the next request opens with, where that has changed.
func (s *Session) weigh() {
	if s.opening() != s.status.ContextTokens {
		s.tell()
	}
}

// opening is an estimate of the tokens that the next request opens with: prompt,
// tools and conversation; 0 while the tools are not known.
func (s *Session) opening() int {
	if s.catalogue == nil {
		return 0
	}
	t := s.jobTerms()
	t.prompting.ContextWindow = s.status.ContextWindow
	return prompt.Tokens(prompt.Brief{Catalogue: t.offered(s.catalogue), Prompting: t.prompting})
}
